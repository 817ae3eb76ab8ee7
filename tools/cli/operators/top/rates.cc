// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/rates.h"

#include <utility>

namespace bulkhead::cli::top {
namespace {

constexpr std::chrono::seconds kSpan{2};

}  // namespace

void Rates::Fill(RunningHosts& running, Time now) {
  std::map<Id, std::deque<Count>> kept;
  for (RunningHost& host : running.hosts) {
    for (RunningBackend& backend : host.backends) {
      for (RunningSession& session : backend.sessions) {
        const Id id{host.pid, host.supervisor_pid, session.session};
        std::deque<Count>& counts = kept[id];
        if (counts.empty()) counts = std::move(counts_[id]);
        if (!counts.empty() && counts.back().frames > session.frames) {
          counts.clear();
        }
        // The oldest count that is kept is the latest one from before the span.
        while (counts.size() > 1 && now - counts[1].taken >= kSpan) {
          counts.pop_front();
        }
        session.frames_per_second.reset();
        if (!counts.empty() && now > counts.front().taken) {
          const std::chrono::duration<double> time = now - counts.front().taken;
          session.frames_per_second =
              static_cast<double>(session.frames - counts.front().frames) /
              time.count();
        }
        counts.push_back({now, session.frames});
      }
    }
  }
  counts_ = std::move(kept);
}

}  // namespace bulkhead::cli::top
