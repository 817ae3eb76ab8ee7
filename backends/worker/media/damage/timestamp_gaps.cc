// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/timestamp_gaps.h"

#include <algorithm>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::damage {
namespace {

// The number of steps that are compared, and the least number of regular steps
// for each gap. 25 frames per second in ticks of 1/30 s have fewer regular
// steps, so their rounding does not look like gaps.
constexpr size_t kSteps = 24;
constexpr size_t kRegularToAGap = 9;

}  // namespace

void TimestampGaps::Restart() {
  waiting_.clear();
  last_.reset();
  steps_.clear();
}

std::optional<TimestampGaps::Packet> TimestampGaps::Sent(const Packet& packet) {
  if (packet.pts == BULKHEAD_NO_TIMESTAMP) {
    Restart();
    return std::nullopt;
  }
  const auto later = [&](const Packet& other) {
    return other.pts > packet.pts;
  };
  waiting_.insert(std::partition_point(waiting_.begin(), waiting_.end(), later),
                  packet);
  if (waiting_.size() <= reordered_) return std::nullopt;
  TakeFirst();
  return FindGap();
}

std::optional<TimestampGaps::Packet> TimestampGaps::Ended() {
  auto gap = FindGap();
  while (!gap && !waiting_.empty()) {
    TakeFirst();
    gap = FindGap();
  }
  return gap;
}

void TimestampGaps::TakeFirst() {
  const Packet packet = waiting_.back();
  waiting_.pop_back();
  const std::optional<int64_t> last = last_;
  last_ = packet.pts;
  int64_t ticks;
  if (!last || __builtin_sub_overflow(packet.pts, *last, &ticks) ||
      ticks <= 0) {
    steps_.clear();
    return;
  }
  steps_.push_back({ticks, packet});
  if (steps_.size() > kSteps) steps_.pop_front();
}

std::optional<TimestampGaps::Packet> TimestampGaps::FindGap() {
  if (steps_.empty()) return std::nullopt;
  const auto shorter = [](const Step& one, const Step& other) {
    return one.ticks < other.ticks;
  };
  const int64_t shortest =
      std::min_element(steps_.begin(), steps_.end(), shorter)->ticks;
  // Steps between times that are rounded to ticks may differ by one tick.
  const int64_t rounding = shortest > 3 ? 1 : 0;
  const auto is_gap = [&](const Step& step) {
    return step.ticks - shortest >= shortest - rounding;
  };
  const auto is_odd = [&](const Step& step) {
    return step.ticks - shortest > rounding && !is_gap(step);
  };
  // The frame rate varies or has changed, so only the last step is kept.
  if (std::any_of(steps_.begin(), steps_.end(), is_odd)) {
    steps_.erase(steps_.begin(), steps_.end() - 1);
    return std::nullopt;
  }
  const auto gaps =
      static_cast<size_t>(std::count_if(steps_.begin(), steps_.end(), is_gap));
  const size_t regular = steps_.size() - gaps;
  if (regular < gaps * kRegularToAGap) return std::nullopt;
  for (Step& step : steps_) {
    if (!is_gap(step) || step.told) continue;
    step.told = true;
    return step.to;
  }
  return std::nullopt;
}

}  // namespace bulkhead::worker::damage
