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

// The socket and the pidfd of one session's worker. bulkheadd holds them on
// behalf of the application, so that the application needs no descriptor for a
// worker. Passes the session's memory on to the worker, and keeps the frame
// pool for the next worker of the stream. Reads the note that a crashing worker
// sends, and learns when the worker has ended.
//
// Trust: the worker is hostile. At most one hello, which is validated, and one
// note of a crash are read from it; other messages stay in the socket. Every
// wait for the worker has a deadline.
//
// Owned by SessionWorkers. Bound to the event loop's thread. Promises must not
// outlive the object.
class SessionSocket {
 public:
  // The memory of the session and its media, which Attach() sends.
  struct Memory {
    std::vector<ipc::UniqueFd> descriptors;  // see WorkerChannel::SendAttach
    worker_protocol::WorkerChannel::MediaAccess access;
  };

  // `socket` is bulkheadd's end of the socket pair with the worker.
  SessionSocket(kj::UnixEventPort& port, ipc::UniqueFd socket);
  KJ_DISALLOW_COPY(SessionSocket);

  // Calls `ended` once the process of `pidfd` has ended. Call it once, before
  // the functions below.
  Status Watch(int pidfd, std::function<void()> ended);
  // Waits for the worker's hello, then calls `confirm`, which verifies the
  // worker's sandbox. If `confirm` returns OK, sends the memory. Waits for at
  // most `patience`, or longer if the worker had to wait for a processor
  // (StepDeadline). `shared` says whether the worker serves several sessions.
  // Resolves with OK, or with the failure for SessionStarted.unattached.
  kj::Promise<Status> Attach(Memory memory, bool shared,
                             std::chrono::milliseconds patience,
                             std::function<Status()> confirm);
  // Sends the worker a frame pool, and keeps the pool's descriptor.
  kj::Promise<Status> AttachPool(uint32_t slot_count, uint64_t slot_bytes,
                                 ipc::UniqueFd pool,
                                 std::chrono::milliseconds patience);
  // Returns the pool that AttachPool() kept, for the stream's next worker;
  // empty if there is none.
  ipc::UniqueFd TakePool() { return std::move(pool_); }
  // Returns the note that the worker sent about its crash; empty if there is
  // none.
  CrashClaim TakeNote();
  void Kill();
  // Returns whether the worker had been stopped, by a signal or a debugger,
  // when Kill() was called.
  bool found_stopped() const { return found_stopped_; }
  // Resolves with true once the process has ended, or with false after
  // `patience`.
  kj::Promise<bool> AwaitEnd(std::chrono::milliseconds patience);
  // Does the same for a process that the kernel is ending already, which may
  // take longer than `patience` on an overloaded machine. So `patience` begins
  // again whenever a thread of the process has ended within it. StepDeadline
  // limits the whole wait.
  kj::Promise<bool> AwaitEndUnderWay(std::chrono::milliseconds patience);

 private:
  // Resolves once the process has ended or `late` has resolved. The value says
  // whether the process has ended by then.
  kj::Promise<bool> AwaitEndOr(kj::Promise<void> late);
  // Returns the deadline of a step of the worker that begins now.
  std::shared_ptr<worker_protocol::StepDeadline> Within(
      std::chrono::milliseconds patience);
  // Resolves once the deadline has passed. Renews the deadline as long as some
  // thread of the process has ended during each timeout. `threads` is the
  // present number of threads.
  kj::Promise<void> Standstill(
      std::shared_ptr<worker_protocol::StepDeadline> deadline,
      std::chrono::milliseconds patience, uint64_t threads);
  // Calls `send`. If it fails with kResourceExhausted, since other processes
  // have too many descriptors in flight, repeats it until the time `end`.
  kj::Promise<Status> Send(std::function<Status()> send, kj::TimePoint end);
  // Returns the function with which WorkerChannel sends a message, at once or
  // not at all.
  worker_protocol::WorkerChannel::SendMessage SendAtOnce();

  kj::UnixEventPort& port_;
  EventSocket socket_;
  ipc::UniqueFd pidfd_;
  kj::Own<kj::UnixEventPort::FdObserver> observer_;
  kj::Maybe<kj::ForkedPromise<void>> ended_;
  ipc::UniqueFd pool_;
  bool attached_ = false;  // true once the worker may have the media
  bool found_stopped_ = false;
};

}  // namespace bulkhead::sockets
