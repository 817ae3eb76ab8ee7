// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "core/control/crash_note.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/worker_protocol/step_deadline.h"
#include "core/worker_protocol/worker_channel.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sockets {

// The socket and the pidfd of one session's worker. bulkheadd has them in the
// application's place, so that the application needs no descriptor for a
// worker. It passes the session's memory on to the worker, keeps the memory of
// the frames for the worker after this one, reads what the worker says when it
// dies, and learns when the worker has ended.
//
// Trust: the worker is hostile. It can send at most one hello, which is
// validated, and one note of a crash; what it sends besides stays in the
// socket. Nothing here waits for it without a deadline.
//
// Owned by SessionWorkers. Bound to the event loop's thread. Promises must not
// outlive the object.
class SessionSocket {
 public:
  // The memory of the session and its media, which Attach() sends.
  struct Memory {
    std::vector<ipc::UniqueFd> descriptors;  // as SendAttach() takes them
    worker_protocol::WorkerChannel::MediaAccess access;
  };

  // `socket` is bulkheadd's end.
  SessionSocket(kj::UnixEventPort& port, ipc::UniqueFd socket);
  KJ_DISALLOW_COPY(SessionSocket);

  // Calls `ended` once the process of `pidfd` has ended. Call it once, before
  // the functions below.
  Status Watch(int pidfd, std::function<void()> ended);
  // Waits for the worker's hello, for `patience` and as much longer as the
  // worker had to wait for a processor, then asks `confirm` and sends the
  // memory. Resolves with the failure of SessionStarted.unattached.
  kj::Promise<Status> Attach(Memory memory, bool shared,
                             std::chrono::milliseconds patience,
                             std::function<Status()> confirm);
  // Sends the worker a frame pool, and keeps its descriptor.
  kj::Promise<Status> AttachPool(uint32_t slot_count, uint64_t slot_bytes,
                                 ipc::UniqueFd pool,
                                 std::chrono::milliseconds patience);
  // Returns the pool that was kept, for the next worker; empty if there is
  // none.
  ipc::UniqueFd TakePool() { return std::move(pool_); }
  // Returns what the worker said of its own end; empty if nothing.
  CrashClaim TakeNote();
  void Kill();
  // Returns whether the worker had been stopped, by a signal or a debugger,
  // when Kill() was called.
  bool found_stopped() const { return found_stopped_; }
  // Resolves with whether the process has ended, after `patience` at the
  // latest.
  kj::Promise<bool> AwaitEnd(std::chrono::milliseconds patience);
  // Does the same for a process that the kernel is said to be ending. On an
  // overloaded machine that may take longer, as a step does: `patience` counts
  // as the timeout of a StepDeadline, which is renewed as long as the process
  // has fewer threads each time.
  kj::Promise<bool> AwaitEndUnderWay(std::chrono::milliseconds patience);

 private:
  // Resolves with true once the process has ended, or after `late` with whether
  // it has.
  kj::Promise<bool> AwaitEndOr(kj::Promise<void> late);
  // Returns the deadline of a step that begins now.
  std::shared_ptr<worker_protocol::StepDeadline> Within(
      std::chrono::milliseconds patience);
  // Resolves once the worker is late.
  kj::Promise<void> Lateness(
      std::shared_ptr<worker_protocol::StepDeadline> deadline);
  // Resolves once the process is late and has no fewer than `threads`.
  kj::Promise<void> Standstill(
      std::shared_ptr<worker_protocol::StepDeadline> deadline,
      std::chrono::milliseconds patience, uint64_t threads);
  // Sends until `end`, as long as others have too many descriptors in flight.
  kj::Promise<Status> Send(std::function<Status()> send, kj::TimePoint end);
  worker_protocol::WorkerChannel::SendMessage SendAtOnce();

  kj::UnixEventPort& port_;
  EventSocket socket_;
  ipc::UniqueFd pidfd_;
  kj::Own<kj::UnixEventPort::FdObserver> observer_;
  kj::Maybe<kj::ForkedPromise<void>> ended_;
  ipc::UniqueFd pool_;
  bool attached_ = false;
  bool found_stopped_ = false;
};

}  // namespace bulkhead::sockets
