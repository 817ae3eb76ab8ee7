// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/check_clip.h"
#include "core/supervisor/backend/clip_check.h"
#include "core/supervisor/backend/incarnation.h"

namespace bulkhead::supervisor {

// Checks that a ready backend decodes, before a new version takes over and when
// a backend is on trial: it decodes the built-in clip and those that it brings,
// one after another, each in a worker of its own, and gives the right pictures
// (clip_check.h).
//
// The check runs in bulkheadd because the application may be inside no call of
// the library when files change, and because another process would have to be
// started, watched and given the worker's socket for a few messages.
//
// Owned by the promise of Lifecycle::CheckHealth(). Bound to the event loop's
// thread.
class HealthCheck {
 public:
  HealthCheck(kj::UnixEventPort& port, std::shared_ptr<Incarnation> incarnation,
              std::vector<CheckClip> clips)
      : port_(port),
        incarnation_(std::move(incarnation)),
        clips_(std::move(clips)) {}
  KJ_DISALLOW_COPY(HealthCheck);

  // Runs the check on the device with the ordinal `device`; may be called once.
  // `limit` is the time for each clip. Resolves with OK or with the first
  // failure of the backend.
  kj::Promise<Status> Run(uint32_t device, std::chrono::milliseconds limit);
  // Returns how many clips were decoded. The others are those whose codec the
  // backend does not support. Call it after the check.
  size_t decoded() const { return decoded_; }

 private:
  kj::UnixEventPort& port_;
  const std::shared_ptr<Incarnation> incarnation_;
  const std::vector<CheckClip> clips_;
  size_t next_ = 0;  // the clip that is checked next
  size_t decoded_ = 0;
};

}  // namespace bulkhead::supervisor
