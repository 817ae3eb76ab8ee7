// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async.h>
#include <kj/timer.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/memory_limit.h"

namespace bulkhead::backend {

// Decides whether a zygote can be used. The zygote says when it has loaded the
// vendor's object. By then it has run vendor code and is not trusted, so two
// things are done before a session is opened: the lock-down of its threads is
// checked, and the parts of files that it maps are held in memory
// (held_files.h).
//
// Owned by ZygoteLink. Bound to the event loop's thread.
class Readiness {
 public:
  // `refuse` is called with the reason and ends the zygote. References are
  // borrowed; `tasks` must be destroyed before this object.
  Readiness(kj::Timer& timer, sandbox::ExpectedCalls& expected,
            const sandbox::LoadedMemory& loading, kj::TaskSet& tasks,
            std::function<void(std::string)> refuse);
  KJ_DISALLOW_COPY(Readiness);

  // See ZygoteLink::AwaitReady().
  kj::Promise<Status> Await(std::chrono::milliseconds timeout);
  // Notes that the zygote says that it is ready.
  void NoteReady() { said_ready_ = true; }
  bool said_ready() const { return said_ready_; }
  // Returns whether the decision was made.
  bool known() const { return result_.has_value(); }
  // Decides that the zygote cannot be used because of `why`. Does nothing if
  // the decision was made before. `declined`: true if the zygote gave the
  // reason.
  void Fail(Status why, bool declined = false);
  // Begins the check if the zygote has said that it is ready and its process is
  // known. `pidfd` is -1 while the process is unknown; a valid one must stay
  // open. `lacks_listener`: true if the zygote has not handed over the listener
  // of its seccomp filter (zygote_link.h).
  void Check(int pidfd, bool lacks_listener);

  // Returns whether the latest failure is a refusal: the zygote gave the reason
  // itself, mapped more memory than was granted or files that cannot be held,
  // or lacked the resources for a clone.
  bool declined() const { return declined_; }
  // Notes that a clone failed, which sets declined(): true if the zygote said
  // that resources ran out.
  void NoteFailedClone(bool declined) { declined_ = declined; }

 private:
  // Makes the decision `status` and answers Await().
  void Resolve(Status status);
  // Decides that the zygote cannot be used, and ends it for `reason`.
  void Refuse(Status status, std::string reason);
  // Holds in memory the parts of files that the zygote maps. Does nothing if it
  // has devices or bulkheadd cannot read its memory.
  kj::Promise<Status> HoldFiles(int pidfd);
  // Holds the parts that HoldFiles() has listed, step by step.
  kj::Promise<Status> HoldRemaining();

  kj::Timer& timer_;
  sandbox::ExpectedCalls& expected_calls_;
  const sandbox::LoadedMemory& loading_;
  kj::TaskSet& tasks_;
  const std::function<void(std::string)> refuse_;
  bool said_ready_ = false;
  bool declined_ = false;
  std::optional<Status> result_;  // the decision
  kj::Own<kj::PromiseFulfiller<Status>> ready_;
};

}  // namespace bulkhead::backend
