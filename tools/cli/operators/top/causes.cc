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
    if (event.kind == Kind::kSessionOpened) GiveCauseOn(event);
    if (event.kind == Kind::kSessionClosed) Forget(event);
    if (!IsBad(event.kind) || event.text.empty()) continue;
    const Id backend{event.host_pid, event.backend, 0};
    const Id session{event.host_pid, event.backend, event.session};
    causes_[backend] = event.text;
    causes_[session] = event.text;
    if (event.kind == Kind::kWorkerEnded && ended_.size() < kManyCauses) {
      ended_.push_back({session, event.device, event.text});
    }
  }
}

void Causes::GiveCauseOn(const Event& opened) {
  const Id id{opened.host_pid, opened.backend, opened.session};
  const std::string input = opened.text + ": ";
  const auto before =
      std::find_if(ended_.begin(), ended_.end(), [&](const Ended& ended) {
        return std::get<0>(ended.session) == opened.host_pid &&
               std::get<1>(ended.session) == opened.backend &&
               ended.device == opened.device && ended.text.starts_with(input);
      });
  if (before == ended_.end()) return;
  causes_[id] = before->text.substr(input.size());
  ended_.erase(before);
}

void Causes::Forget(const Event& closed) {
  const Id id{closed.host_pid, closed.backend, closed.session};
  causes_.erase(id);
  std::erase_if(ended_,
                [&](const Ended& ended) { return ended.session == id; });
}

void Causes::DropOthers(const RunningHosts& running) {
  if (causes_.size() + ended_.size() < kManyCauses) return;
  std::set<int> pids;
  for (const RunningHost& host : running.hosts) pids.insert(host.pid);
  const auto is_other = [&](const Id& id) {
    return !pids.contains(std::get<0>(id));
  };
  std::erase_if(causes_,
                [&](const auto& cause) { return is_other(cause.first); });
  std::erase_if(ended_,
                [&](const Ended& ended) { return is_other(ended.session); });
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
