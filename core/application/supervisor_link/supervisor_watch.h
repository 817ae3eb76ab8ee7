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

// The heartbeat of one bulkheadd: asks bulkheadd a trivial question, and kills
// it if it does not answer. bulkheadd runs an event loop that never blocks. If
// it does not answer within the deadline supervisor_start, it hangs: somebody
// has stopped it, or the kernel holds it. The question has its own connection.
//
// Each bulkheadd has its own watch, which all threads that wait for its answers
// share. Thread-safe.
class SupervisorWatch {
 public:
  // Makes a watch of the new bulkheadd `pid`. Call it before the first exchange
  // with that bulkheadd: an answer then proves that bulkheadd was alive when
  // its pidfd was opened, so the pidfd is not of a later process with the same
  // pid. `patience` is the deadline supervisor_start. Returns kUnsupported
  // where the kernel has no pidfds.
  static Result<std::shared_ptr<SupervisorWatch>> Of(
      pid_t pid, std::chrono::milliseconds patience);

  // Sets the connection for the questions. Call it once, before Check().
  void Ask(ipc::UniqueFd connection) { connection_ = std::move(connection); }
  // Asks bulkheadd and returns OK if it answers. Returns kBackendLost if
  // bulkheadd has died. If it does not answer within `patience`, kills it and
  // returns kBackendLost, too; the message says so. Time for which this process
  // itself was stopped does not count. If `interrupt_fd` (-1: none) becomes
  // readable, returns kDeadlineExceeded and does not kill bulkheadd.
  Status Check(int interrupt_fd);
  // Kills bulkheadd because it was late. Returns an error with `code` that says
  // so.
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
  // Used only by the thread that has turn_.
  ipc::UniqueFd connection_;
  bool asked_ = false;  // a question is not answered yet
  Status found_;        // not OK once bulkheadd is known to be lost
};

}  // namespace bulkhead::supervisor_link
