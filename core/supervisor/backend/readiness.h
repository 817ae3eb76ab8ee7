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

// Finds out whether a zygote can be used. The zygote says that it has loaded
// the vendor's object, but is not trusted by then: the lock-down of its threads
// is checked, and what it maps of files is held in memory before any session is
// opened.
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
  // The zygote says that it is ready.
  void SayReady() { said_ready_ = true; }
  // Returns whether the zygote has said so.
  bool said_ready() const { return said_ready_; }
  // Returns whether it is known that the zygote can be used, or that it cannot.
  bool known() const { return result_.has_value(); }
  // Says why the zygote cannot be used, unless that is known. `declined` says
  // that the zygote itself gave the reason.
  void Fail(Status why, bool declined = false);
  // Begins the check once the zygote has said that it is ready and its process
  // is known: `pidfd`, which must stay open, is -1 before.
  void Check(int pidfd, bool lacks_listener);

  // Returns whether the zygote itself said why it cannot be used.
  bool declined() const { return declined_; }
  void set_declined(bool declined) { declined_ = declined; }

 private:
  void Resolve(Status status);
  void Refuse(Status status, std::string reason);
  kj::Promise<Status> HoldFiles(int pidfd);
  kj::Promise<Status> HoldRemaining();

  kj::Timer& timer_;
  sandbox::ExpectedCalls& expected_calls_;
  const sandbox::LoadedMemory& loading_;
  kj::TaskSet& tasks_;
  const std::function<void(std::string)> refuse_;
  bool said_ready_ = false;
  bool declined_ = false;
  std::optional<Status> result_;
  kj::Own<kj::PromiseFulfiller<Status>> ready_;
};

}  // namespace bulkhead::backend
