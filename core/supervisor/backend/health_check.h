// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/discovery/manifest.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"

namespace bulkhead::supervisor {

// Whether a backend that has just become ready decodes: a session worker of its
// own is cloned, and decodes the first picture of the built-in clip, or the
// first samples of the built-in sound. A backend that says kUnsupported of that
// codec passes without having decoded anything.
//
// Here, in bulkheadd's event loop, and not in the application or in a helper:
// the application may be inside no call of ours when files change, and another
// process would have to be started, watched and given the session's socket for
// what are five messages. session/worker_link.h is not used since it waits.
// This is the host's side of the same protocol with the fewest requests, and
// each step waits for an event.
//
// Trust: the worker is hostile. Each reply is copied out and must be the very
// one that was asked for, a frame is checked against the ledger, and no pixel
// is looked at: wrong pictures are not noticed. It has until the deadline for
// everything.
//
// Owned by Backend. Bound to the event loop's thread.
class HealthCheck {
 public:
  HealthCheck(kj::UnixEventPort& port,
              std::shared_ptr<Incarnation> incarnation);
  ~HealthCheck() noexcept(false);
  KJ_DISALLOW_COPY(HealthCheck);

  // Once. `device`: its ordinal. OK, or in which way it failed.
  kj::Promise<Status> Run(discovery::StreamKind kind, uint32_t device,
                          std::chrono::milliseconds limit);

 private:
  using Reply = ipc::schema::Reply;
  using Take = std::function<Status(Reply::Reader)>;
  struct Session;

  kj::Promise<Status> Decode(uint32_t device);
  bool audio() const { return kind_ == discovery::StreamKind::kAudio; }
  // What it says of the clip or the sound.
  Status JudgeOpened(Reply::Reader reply_untrusted);
  kj::Promise<Status> Play();
  // Sends the worker its memory and the clip.
  Status Attach();
  Status AttachPool();
  Status Ask(const std::function<void(ipc::schema::Request::Builder)>& fill);
  // Resolves with what `take` says of the next reply.
  kj::Promise<Status> AwaitReply(Take take);
  kj::Promise<Status> AwaitOutput();
  Status JudgeOutput(Reply::Reader reply_untrusted);
  Status JudgeSamples(ipc::schema::PublishedSamples::Reader samples_untrusted);
  kj::Promise<Status> AwaitDeath();
  // What it answered instead of doing it.
  Status FailureOf(Reply::Reader reply_untrusted);

  kj::UnixEventPort& port_;
  const std::shared_ptr<Incarnation> incarnation_;
  discovery::StreamKind kind_ = discovery::StreamKind::kVideo;
  std::optional<Incarnation::Worker> worker_;
  std::unique_ptr<EventSocket> socket_;
  std::unique_ptr<Session> session_;
  std::shared_ptr<session::FramePool> pool_;
  bool unsupported_ = false;  // it does not decode that codec
};

}  // namespace bulkhead::supervisor
