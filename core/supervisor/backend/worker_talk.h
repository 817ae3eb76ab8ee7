// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/control/crash_note.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/worker_channel.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::backend {

// One session worker of bulkheadd's own, for a health check or a shadow, from
// its clone to its end. Speaks to the worker through WorkerChannel, as the
// sessions of the application do, but waits in the event loop of bulkheadd
// instead of blocking.
//
//     talk.Begin(media, {}, limit)
//         .then([&](Status) { return talk.Request(words, fill); })
//         .then([&](Status) { return talk.AwaitReply(take); })
//         .exclusiveJoin(talk.WhenDead());      // called after Begin()
//
// Trust: the worker is hostile. Each reply is copied out before `take` sees it;
// a breach of the framing is kBackendMisbehaved. Only the clone has a deadline
// here. The owner bounds every other wait, for instance with WhenLate().
//
// Failure: kResourceExhausted means that the worker is not to blame, since it
// was not cloned, was killed by others, or had no processor.
//
// Destroying it ends the worker. Bound to the event loop's thread.
class WorkerTalk {
 public:
  using Reply = ipc::schema::Reply;

  WorkerTalk(kj::UnixEventPort& port, std::shared_ptr<Incarnation> incarnation);
  ~WorkerTalk() noexcept(false);
  KJ_DISALLOW_COPY(WorkerTalk);

  // Clones a worker of `kind` (kSession or kCheck) within `limit`, checks its
  // lock-down, and sends it its rings and the media. Call it once.
  kj::Promise<Status> Begin(Incarnation::WorkerKind kind, ipc::UniqueFd media,
                            const sandbox::MemoryAllowance& memory,
                            std::chrono::milliseconds limit);
  // Resolves when the worker has died, with a failure that says how. Call it
  // once, after Begin().
  kj::Promise<Status> WhenDead();
  // Resolves once the worker is late: with kDeadlineExceeded after `limit`, or
  // with kResourceExhausted after up to 2 * `limit` if the worker had to wait
  // for a processor. Call it once.
  kj::Promise<Status> WhenLate(std::chrono::milliseconds limit);

  // Writes one request; see WorkerChannel::Request.
  Status Request(size_t max_words,
                 const worker_protocol::WorkerChannel::FillRequest& fill);
  // Sends the worker the memory for its output, and a request to attach it.
  Status AttachPool(std::shared_ptr<worker_protocol::FramePool> pool);
  // Grants every free slot of the pool.
  Status Grant();
  const std::shared_ptr<worker_protocol::FramePool>& pool() const {
    return pool_;
  }
  // Resolves with what `take` returns for the next reply. The event loop runs
  // once for each reply: a caller that asks again and again holds up nobody,
  // and its deadline still ends the wait.
  kj::Promise<Status> AwaitReply(
      worker_protocol::WorkerChannel::TakeReply take);

 private:
  // Resolves with how the worker died. `claim` is what the worker said of its
  // crash.
  kj::Promise<Status> AwaitDeath(CrashClaim claim);
  Status Attach(const ipc::UniqueFd& media);
  // Returns a function that sends over the worker's socket without waiting.
  worker_protocol::WorkerChannel::SendMessage SendAtOnce();

  kj::UnixEventPort& port_;
  const std::shared_ptr<Incarnation> incarnation_;
  std::optional<Incarnation::Worker> worker_;
  std::unique_ptr<sockets::EventSocket> socket_;
  std::unique_ptr<worker_protocol::WorkerChannel> channel_;
  // Watches the descriptor of channel_, and therefore dies before it.
  kj::Own<kj::UnixEventPort::FdObserver> replies_;
  std::shared_ptr<worker_protocol::FramePool> pool_;
};

// Returns kBackendMisbehaved. `what` says how the worker broke the protocol.
Status Misbehaved(const std::string& what);

// Returns the failure that a worker answered with: kBackendMisbehaved if the
// reply is no failure.
Status FailureOf(ipc::schema::Reply::Reader reply_untrusted);

}  // namespace bulkhead::backend
