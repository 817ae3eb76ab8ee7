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

// Sees every picture of a video stream that the caller gets, for two kinds of
// comparison with pictures of another device:
//
//   after a failover  The latest frames found by number are found again on the
//                     other device, and their fingerprints compared. Few frames
//                     are kept, since each may cost a seek. (FrameSequence
//                     compares the frames of Next().)
//   with a shadow     ShadowFeed reports each picture to bulkheadd
//                     (HostOptions::shadow).
//
// Owned by the VideoSession. Not thread-safe.
class Witness {
 public:
  using Find = std::function<Result<FrameFinder::Found>(uint64_t)>;

  // `may_move` is true if the caller has named a device on_failure.
  explicit Witness(bool may_move) : keeps_(may_move) {
    if (may_move) hasher_ = PictureHasher::WithRandomKey();
  }

  // Returns the hasher for fingerprints, or null if the fingerprints that
  // workers claim are enough. They are not enough to compare two devices.
  const PictureHasher* hasher() const { return hasher_ ? &*hasher_ : nullptr; }
  // Reports all pictures to `feed` from now on. It is null without a shadow.
  void Accompany(std::unique_ptr<ShadowFeed> feed) {
    shadow_ = std::move(feed);
  }

  // Begins a call of the application that asks for frames by number.
  void Begin() { found_.clear(); }
  // Takes a frame that the call has found, with a worker of `backend`.
  void Found(const FoundFrame& frame, const std::string& backend);
  // Ends the call successfully. Only then are the frames of Found() kept.
  void Delivered();
  // Takes a frame of Next(), with its number and the backend of its worker.
  void Passed(const worker_link::PublishedFrame& frame, uint64_t number,
              const std::string& backend);
  // Takes the end of the stream, which Next() has reached after `frames`
  // frames.
  void Ended(uint64_t frames);

  // Records that all later frames come from another device. Forgets the frames
  // of the present call.
  void ChangeDevice();
  // After a change of the device, has `find` find the kept frames again, and
  // compares them. Returns nullopt if there is nothing to compare, or if they
  // were compared before. After an error, the next call compares again.
  Result<std::optional<Comparison>> Compare(const Find& find);

 private:
  struct Print {
    uint64_t number;
    uint64_t fingerprint;
  };

  // Set if the caller has named a device on_failure.
  std::optional<PictureHasher> hasher_;
  bool keeps_;  // frames are kept, since the device may still change
  std::vector<Print> found_;            // frames of the present call
  std::deque<Print> latest_;            // frames of the latest calls
  bool other_device_ = false;           // latest_ has yet to be compared
  std::unique_ptr<ShadowFeed> shadow_;  // null if the stream has no shadow
};

}  // namespace bulkhead::session
