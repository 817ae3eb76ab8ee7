// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/causes.h"

#include <algorithm>
#include <set>

namespace bulkhead::cli::top {
namespace {

using Kind = Event::Kind;

constexpr size_t kManyCauses = 4'096;

bool IsBad(Kind kind) {
  switch (kind) {
    case Kind::kBackendState:
    case Kind::kZygoteEnded:
    case Kind::kWorkerEnded:
    case Kind::kShadowDiffers:
    case Kind::kTrial:
    case Kind::kFailover:
    case Kind::kFailoverFailed:
      return true;
    case Kind::kSessionOpened:
    case Kind::kSessionClosed:
    case Kind::kShadowClosed:
    case Kind::kCommand:
      return false;
  }
  return false;
}

}  // namespace

void Causes::Add(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (event.kind == Kind::kSessionClosed) {
      causes_.erase({event.host_pid, event.backend, event.session});
    }
    if (!IsBad(event.kind) || event.text.empty()) continue;
    causes_[{event.host_pid, event.backend, 0}] = event.text;
    if (event.session != 0) {
      causes_[{event.host_pid, event.backend, event.session}] = event.text;
    }
  }
}

void Causes::DropOthers(const RunningHosts& running) {
  if (causes_.size() < kManyCauses) return;
  std::set<int> pids;
  for (const RunningHost& host : running.hosts) pids.insert(host.pid);
  std::erase_if(causes_, [&](const auto& cause) {
    return !pids.contains(std::get<0>(cause.first));
  });
}

std::string Causes::OfBackend(int host_pid, const std::string& backend) const {
  return OfSession(host_pid, backend, 0);
}

std::string Causes::OfSession(int host_pid, const std::string& backend,
                              uint64_t session) const {
  const auto cause = causes_.find({host_pid, backend, session});
  return cause == causes_.end() ? std::string() : cause->second;
}

}  // namespace bulkhead::cli::top
