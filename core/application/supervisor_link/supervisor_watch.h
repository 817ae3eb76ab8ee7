// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <utility>

#include "core/application/supervisor_link/interruptible_turn.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::supervisor_link {

// Finds out whether a bulkheadd that owes an answer still serves, and ends it
// if it does not. bulkheadd waits for nothing, so one that answers no question
// on a connection of its own within the deadline supervisor_start hangs: it was
// stopped, or the kernel holds it.
//
// Shared by the threads that wait for answers of one bulkheadd. Thread-safe.
class SupervisorWatch {
 public:
  // Call it before the first exchange with the new bulkheadd `pid`: an answer
  // then proves that the pid was not another process's. Fails with kUnsupported
  // where the kernel has no pidfds.
  static Result<std::shared_ptr<SupervisorWatch>> Of(
      pid_t pid, std::chrono::milliseconds patience);

  // Sets the connection to ask on. Call it once, before Check().
  void Ask(ipc::UniqueFd connection) { connection_ = std::move(connection); }
  // Returns OK if bulkheadd answers. Otherwise ends it, and returns
  // kBackendLost, with the reason if it had to be ended. Waits for `patience`,
  // without the time for which this process itself was stopped. Returns
  // kDeadlineExceeded, and leaves bulkheadd alone, once `interrupt_fd` is
  // readable; -1 is for none.
  Status Check(int interrupt_fd);
  // Ends bulkheadd, which was late, and returns the reason as `code`.
  Status End(Code code) const;

 private:
  SupervisorWatch(pid_t pid, ipc::UniqueFd pidfd, InterruptibleTurn turn,
                  std::chrono::milliseconds patience)
      : pid_(pid),
        pidfd_(std::move(pidfd)),
        patience_(patience),
        turn_(std::move(turn)) {}

  const pid_t pid_;
  const ipc::UniqueFd pidfd_;
  const std::chrono::milliseconds patience_;
  const InterruptibleTurn turn_;
  // For the thread that has the turn.
  ipc::UniqueFd connection_;
  bool asked_ = false;  // and not answered
  Status found_;
};

}  // namespace bulkhead::supervisor_link
