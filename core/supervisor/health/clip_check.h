// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <memory>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/backend/worker_talk.h"
#include "core/supervisor/health/clip_stream.h"
#include "core/supervisor/health/known_clip.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::health {

// Has a backend decode one clip of a health check. A session worker is cloned
// for this clip alone and decodes its first pictures or samples, which
// ClipStream judges.
//
// Trust: the worker is hostile (worker_talk.h). Each reply must answer the
// request, and each published slot must be one that was granted. One deadline
// covers the whole clip.
//
// Bound to the event loop's thread.
class ClipCheck {
 public:
  // `clip` must outlive this object.
  ClipCheck(kj::UnixEventPort& port,
            std::shared_ptr<backend::Incarnation> incarnation,
            const KnownClip& clip);
  KJ_DISALLOW_COPY(ClipCheck);

  // Runs the check on the device with the ordinal `device`, within `limit`.
  // Resolves with OK or with the failure of the backend. Call it once.
  kj::Promise<Status> Run(uint32_t device, std::chrono::milliseconds limit);
  // Returns true if the backend answered that it does not support the codec, so
  // that it passed without decoding anything. Call it after the check.
  bool unsupported() const { return unsupported_; }

 private:
  using Reply = ipc::schema::Reply;

  // Opens the stream, then plays it.
  kj::Promise<Status> Decode(uint32_t device);
  // Resolves once all pictures or samples were judged.
  kj::Promise<Status> Play();
  // Judges replies until all pictures or samples were judged.
  kj::Promise<Status> AwaitOutput();
  // Returns the failure that the worker answered with.
  Status FailureIn(Reply::Reader reply_untrusted);

  const KnownClip& clip_;
  backend::WorkerTalk talk_;
  ClipStream stream_;
  bool unsupported_ = false;
};

}  // namespace bulkhead::health
