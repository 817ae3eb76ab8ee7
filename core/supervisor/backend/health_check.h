// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/control/crash_note.h"
#include "core/discovery/manifest.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/built_in_stream.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/worker_protocol/frame_pool.h"
#include "core/worker_protocol/worker_channel.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::supervisor {

// Checks that a backend which has just become ready decodes: a session worker
// is cloned for the check alone, and decodes the first picture of the built-in
// clip or the first samples of the built-in sound. A backend that answers
// kUnsupported for that codec passes without having decoded anything.
//
// The check speaks to the worker through WorkerChannel, as the sessions of the
// application do, but waits in the event loop of bulkheadd instead of blocking.
// It runs in bulkheadd because the application may be inside no call of the
// library when files change, and because another process would have to be
// started, watched and given the worker's socket for five messages.
//
// Trust: the worker is hostile. Each reply is copied out and must answer the
// request, and each published slot is checked against the ledger. Pixels are
// not compared, so wrong pictures are not noticed. One deadline covers the
// whole check.
//
// Owned by the promise of Lifecycle::CheckHealth(). Bound to the event loop's
// thread.
class HealthCheck {
 public:
  HealthCheck(kj::UnixEventPort& port,
              std::shared_ptr<Incarnation> incarnation);
  ~HealthCheck() noexcept(false);
  KJ_DISALLOW_COPY(HealthCheck);

  // Runs the check on the device with the ordinal `device`; may be called once.
  // Resolves with OK or with the failure of the backend.
  kj::Promise<Status> Run(discovery::StreamKind kind, uint32_t device,
                          std::chrono::milliseconds limit);
  // Returns whether the backend passed without having decoded anything. Call it
  // after the check.
  bool unsupported() const { return unsupported_; }

 private:
  using Reply = ipc::schema::Reply;

  kj::Promise<Status> Decode(uint32_t device);
  // Sends the worker its rings and the clip or the sound.
  Status Attach();
  Status AskToOpen(uint32_t device);
  // Resolves once the first picture or samples were judged.
  kj::Promise<Status> Play();
  Status AttachPool();
  kj::Promise<Status> AwaitOutput();
  // Returns the failure that the worker answered with.
  Status FailureOf(Reply::Reader reply_untrusted);
  // Resolves with what `take` returns for the next reply.
  kj::Promise<Status> AwaitReply(session::WorkerChannel::TakeReply take);
  // Resolves with how the worker died. `claim` is what it said of that itself.
  kj::Promise<Status> AwaitDeath(CrashClaim claim);
  // Returns a function that sends over the worker's socket without waiting.
  session::WorkerChannel::SendMessage SendAtOnce();

  kj::UnixEventPort& port_;
  const std::shared_ptr<Incarnation> incarnation_;
  std::optional<BuiltInStream> stream_;  // set by Run()
  std::optional<Incarnation::Worker> worker_;
  std::unique_ptr<EventSocket> socket_;
  std::unique_ptr<session::WorkerChannel> channel_;
  // Watches the descriptor of channel_, and therefore dies before it.
  kj::Own<kj::UnixEventPort::FdObserver> replies_;
  std::shared_ptr<session::FramePool> pool_;
  bool unsupported_ = false;  // the worker does not support the codec
};

}  // namespace bulkhead::supervisor
