// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/application/session/failover.h"
#include "core/application/session/frame_finder.h"
#include "core/application/session/shadow_feed.h"
#include "core/application/worker_link/video_link.h"
#include "core/control/picture_hash.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Sees every picture that the caller gets of a video stream, so that it can be
// compared with another device's: after a failover (failover.h) by the
// fingerprints of the frames that were found by number last, and all the time
// by the shadow. The finders of pictures do not know it. FrameSequence compares
// frames in order by its own record.
//
// Few frames are kept, since each may cost a seek. Not thread-safe.
class Witness {
 public:
  using Find = std::function<Result<FrameFinder::Found>(uint64_t)>;

  // `may_move` says whether the caller named another device for the case that
  // this one fails.
  explicit Witness(bool may_move) : keeps_(may_move) {
    if (may_move) hasher_ = PictureHasher::WithRandomKey();
  }

  // Returns what fingerprints are made with, if the claims of workers are not
  // enough; else null.
  const PictureHasher* hasher() const { return hasher_ ? &*hasher_ : nullptr; }
  // Shows each picture to the shadow as well; `feed` may be null.
  void Accompany(std::unique_ptr<ShadowFeed> feed) {
    shadow_ = std::move(feed);
  }

  // Begins a call of the application that asks for frames by number. They are
  // kept by Delivered(), at its end.
  void Begin() { found_.clear(); }
  // Takes a frame of a worker of `backend` that the call has found.
  void Found(const FoundFrame& frame, const std::string& backend);
  void Delivered();
  // Takes a frame of Next(), and the end of the stream after `frames` frames.
  void Passed(const worker_link::PublishedFrame& frame, uint64_t number,
              const std::string& backend);
  void Ended(uint64_t frames);

  // Records that another device gives the frames from now on. Forgets what was
  // found and not delivered.
  void ChangeDevice();
  // Has `find` find the kept frames again if the device has changed, and
  // compares them, once. After an error it does so again.
  Result<std::optional<Comparison>> Compare(const Find& find);

 private:
  struct Print {
    uint64_t number;
    uint64_t fingerprint;
  };

  // Set if pictures may have to be compared with another device's.
  std::optional<PictureHasher> hasher_;
  bool keeps_;  // another device may yet have to be compared
  std::vector<Print> found_;
  std::deque<Print> latest_;
  bool other_device_ = false;
  std::unique_ptr<ShadowFeed> shadow_;  // null if the stream has no shadow
};

}  // namespace bulkhead::session
