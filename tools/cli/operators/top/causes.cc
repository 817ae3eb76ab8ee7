// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/causes.h"

#include <algorithm>
#include <set>

namespace bulkhead::cli::top {
namespace {

using Kind = Event::Kind;

constexpr size_t kManyCauses = 8'192;

// Returns whether the text of an event is the cause of a failure.
bool IsBad(const Event& event) {
  switch (event.kind) {
    case Kind::kBackendState:
      return event.state == "backing-off" || event.state == "quarantined";
    case Kind::kTrial:
      return event.state != "passed";
    case Kind::kZygoteEnded:
    case Kind::kWorkerEnded:
    case Kind::kShadowDiffers:
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

std::tuple<int, std::string, uint64_t> IdOf(const Event& event) {
  return {event.host_pid, event.backend, event.session};
}

}  // namespace

void Causes::Add(const std::vector<Event>& events) {
  for (const Event& event : events) {
    if (event.kind == Kind::kSessionOpened) Open(event);
    if (event.kind == Kind::kSessionClosed) Close(event);
    // A command restarts the backend, so that older causes no longer apply. Its
    // zygote ends because of the command, not of a failure.
    if (event.kind == Kind::kCommand) {
      causes_.erase({event.host_pid, event.backend, 0});
    }
    if (!IsBad(event) || event.text.empty()) continue;
    causes_[{event.host_pid, event.backend, 0}] = event.text;
    if (event.session != 0) causes_[IdOf(event)] = event.text;
    if (event.kind == Kind::kWorkerEnded) EndWorker(event);
  }
}

void Causes::Open(const Event& opened) {
  const Id id = IdOf(opened);
  inputs_[id] = opened.text;
  // Finds the session whose worker has ended, and which this one continues.
  const auto before =
      std::find_if(ended_.begin(), ended_.end(), [&](const Ended& ended) {
        return std::get<0>(ended.session) == opened.host_pid &&
               std::get<1>(ended.session) == opened.backend &&
               ended.device == opened.device && ended.input == opened.text;
      });
  if (before == ended_.end()) return;
  causes_[id] = before->cause;
  ended_.erase(before);
}

void Causes::Close(const Event& closed) {
  const Id id = IdOf(closed);
  causes_.erase(id);
  inputs_.erase(id);
  std::erase_if(ended_,
                [&](const Ended& ended) { return ended.session == id; });
}

void Causes::EndWorker(const Event& ended) {
  const Id id = IdOf(ended);
  const auto input = inputs_.find(id);
  if (input == inputs_.end()) return;
  // The text of the event is "INPUT: CAUSE". The cause is more important, and
  // the input may be long. So the backend gets "CAUSE: INPUT". The session gets
  // "CAUSE", since its row names the input in the details.
  std::string how = ended.text;
  if (how.starts_with(input->second + ": ")) {
    how.erase(0, input->second.size() + 2);
    causes_[{ended.host_pid, ended.backend, 0}] = how + ": " + input->second;
    causes_[id] = how;
  }
  ended_.push_back({id, ended.device, input->second, how});
}

void Causes::DropOthers(const RunningHosts& running) {
  if (causes_.size() + inputs_.size() + ended_.size() < kManyCauses) return;
  std::set<int> pids;
  for (const RunningHost& host : running.hosts) pids.insert(host.pid);
  const auto is_other = [&](const Id& id) {
    return !pids.contains(std::get<0>(id));
  };
  std::erase_if(causes_, [&](const auto& it) { return is_other(it.first); });
  std::erase_if(inputs_, [&](const auto& it) { return is_other(it.first); });
  std::erase_if(ended_, [&](const auto& it) { return is_other(it.session); });
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
