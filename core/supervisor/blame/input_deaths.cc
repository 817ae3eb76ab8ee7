// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/input_deaths.h"

#include <algorithm>

namespace bulkhead::blame {

uint32_t InputDeaths::Died(const std::string& input, InputPosition position,
                           ExitReport report, Time now) {
  DropOld(now);
  Dated& dated = records_[{input, position}];
  dated.record.position = position;
  dated.record.last = std::move(report);
  dated.last_death = now;
  const uint32_t deaths = ++dated.record.deaths;
  if (records_.size() > kMaxPositions) {
    records_.erase(std::min_element(
        records_.begin(), records_.end(), [](const auto& a, const auto& b) {
          return a.second.last_death < b.second.last_death;
        }));
  }
  return deaths;
}

void InputDeaths::Delivered(const std::string& input, InputPosition position) {
  const InputPosition opening;
  records_.erase({input, opening});
  records_.erase({input, position});
}

std::vector<PoisonedPosition> InputDeaths::Refused(const std::string& input,
                                                   Time now) {
  DropOld(now);
  std::vector<PoisonedPosition> refused;
  const InputPosition first;  // the opening is the least position
  for (auto at = records_.lower_bound({input, first});
       at != records_.end() && at->first.first == input; ++at) {
    if (at->second.record.deaths >= attempts_) {
      refused.push_back(at->second.record);
    }
  }
  return refused;
}

void InputDeaths::DropOld(Time now) {
  std::erase_if(records_, [now](const auto& entry) {
    return entry.second.last_death + kLifetime <= now;
  });
}

}  // namespace bulkhead::blame
