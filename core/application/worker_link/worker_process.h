// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/exit_verdict.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/started_worker.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/include/bulkhead/host.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/waiter.h"

namespace bulkhead::worker_link {

// The process of one worker as its session sees it. The class knows whether the
// process lives, kills it when the session asks for that, and reports its end
// to bulkheadd.
//
// The process is not a child of the application, so bulkheadd kills it or waits
// for its end on request. A process that is late or breaks the protocol is
// killed even if it serves other sessions too.
//
// Trust: the worker is hostile. The process counts as ended only if bulkheadd
// says so, never because the worker's own shared memory says so.
//
// Owned by WorkerLink. Not thread-safe.
class WorkerProcess {
 public:
  WorkerProcess(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
                supervisor_link::StartedWorker started,
                std::shared_ptr<supervisor_link::CancelSignal> cancel);

  const supervisor_link::StartedWorker& started() const { return started_; }
  // Returns the word in shared memory that bulkheadd sets when the process has
  // ended.
  const ipc::WatchedWord& end_word() const { return end_; }
  // Returns 0 once the process has ended.
  pid_t pid() const { return end_.ends() ? 0 : started_.pid; }
  // Returns true once the process has died or was killed, or its session was
  // closed.
  bool dead() const { return dead_; }
  // Returns true if the process is known to have ended, so that nobody writes
  // into its memory any more. A killed process that the kernel still holds is
  // dead() but not gone().
  bool gone() const { return gone_; }

  // Waits at most `patience` for a process whose channel was closed, and which
  // should therefore end by itself. bulkheadd kills a process that takes
  // longer. Sets dead().
  void AwaitClosing(std::chrono::milliseconds patience);

  // The next three functions set dead(). The caller returns their error.

  // Waits for the end of a process that seems to have ended. Returns
  // kBackendLost, or Misbehaved() if the process lives on.
  Status Died();
  // Kills the process because it is late. `what` completes "took too long to",
  // for example "open the file". `deadline` is the deadline that the worker has
  // missed, and `times` the number of its timeouts that have passed.
  Status TookTooLong(const char* what,
                     std::chrono::milliseconds Deadlines::*deadline,
                     int times = 1);
  // Kills the process because it broke the protocol. `what` says how.
  Status Misbehaved(const std::string& what);

  // Returns the error that the worker reported. Kills the process, and sets
  // dead(), if the report breaks the protocol, or if it says that the backend
  // breaks the C ABI. Returns Died() if bulkheadd ended the worker because its
  // backend had run out of tasks (EndWorker.How.lacking).
  Status FailureOf(ipc::schema::Failed::Reader failed_untrusted);

  // Adds the reason why the process was killed to `seen`, reports the exit to
  // bulkheadd and returns the answer. Call this only when dead(), and only
  // once, since bulkheadd counts each exit.
  supervisor_link::ExitVerdict TakeExit(supervisor_link::ObservedExit seen);

 private:
  using How = ipc::schema::EndWorker::How;
  // Has bulkheadd end the process or wait for its end. Returns whether the
  // process is known to have ended, and an error if bulkheadd does not say.
  Result<bool> Ends(How how, std::chrono::milliseconds patience) const;
  // Kills the process. `message` is the end of a sentence about the worker.
  Status Kill(Code code, ExitReport::Kind kind, std::string message);
  // Kills the process because it reports that its backend breaks the C ABI.
  Status BrokeAbi(const std::string& report);

  const std::shared_ptr<supervisor_link::SupervisorLink> supervisor_;
  const supervisor_link::StartedWorker started_;
  const ipc::WatchedWord end_;
  const std::shared_ptr<supervisor_link::CancelSignal> cancel_;
  bool dead_ = false;
  bool gone_ = false;
  ExitReport::Kind killed_for_ = ExitReport::Kind::kUnknown;
  std::string killed_because_;
  bool claims_cause_ = false;  // the worker itself reported the cause
};

}  // namespace bulkhead::worker_link
