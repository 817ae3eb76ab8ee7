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
#include "core/control/picture_hasher.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Compares the pictures that the caller has got with those that another worker,
// perhaps on another device, makes of the same frames. Keeps fingerprints:
//
//   of Next()         FrameRecord adds the fingerprint of each recorded frame.
//                     The next worker must show the same pictures again.
//                     If it is on another device and does not, these
//                     fingerprints are not compared again.
//   found by number   The latest few are kept. They are compared only after a
//                     change of the device, since each may cost a seek.
//
// With a shadow, it also passes each picture to ShadowFeed, which reports it to
// bulkheadd (HostOptions::shadow).
//
// Owned by the VideoSession. Not thread-safe.
class Witness {
 public:
  using Find = std::function<Result<FrameFinder::Found>(uint64_t)>;
  using Report = std::function<void(const Comparison&)>;

  // `may_move` is true if the caller has named a device on_failure. `report`
  // gets each comparison with that device.
  Witness(bool may_move, Report report)
      : report_(std::move(report)), keeps_(may_move) {
    if (may_move) hasher_ = PictureHasher::WithRandomKey();
  }

  // Returns the hasher for fingerprints, or null if the fingerprints that
  // workers claim are enough. They are not enough to compare two devices.
  const PictureHasher* hasher() const { return hasher_ ? &*hasher_ : nullptr; }
  // Reports all pictures to `feed` from now on. It is null without a shadow.
  void Accompany(std::unique_ptr<ShadowFeed> feed) {
    shadow_ = std::move(feed);
  }
  // Records that all later frames come from another device. Forgets the frames
  // that the present call has found by number.
  void ChangeDevice();

  // Begins a call of the application that asks for frames by number.
  void Begin() { found_.clear(); }
  // Has `find` find frame `index`. After a change of the device, it first finds
  // the kept frames again and compares them, once. After an error, the next
  // call compares again.
  Result<FrameFinder::Found> FindCompared(const Find& find, uint64_t index);
  // Takes a frame that the call has found with a worker of `backend`. Passes it
  // to the shadow, too.
  void Found(const FoundFrame& frame, const std::string& backend);
  // Ends the call successfully, and keeps the frames of Found(). If a call does
  // not get here, the next Begin() forgets them.
  void Delivered();

  // Keeps the fingerprint of the next frame of Next(); 0 stands for a frame
  // without a picture.
  void Record(uint64_t fingerprint) { in_order_.push_back(fingerprint); }
  // Forgets the oldest fingerprint of Next().
  void DropOldest();
  // Forgets all fingerprints of Next(), which starts over.
  void Rewind();
  // Returns whether the recorded frame `number` of Next() has this fingerprint.
  // Returns true if its fingerprint is no longer compared.
  bool IsSame(uint64_t number, uint64_t fingerprint) const {
    return number < uncompared_ || in_order_[number - oldest_] == fingerprint;
  }
  // Returns whether the device has changed and the recorded frames of Next()
  // have yet to be compared.
  bool proving() const { return in_order_unproven_; }
  // Ends proving(). `same` is false if a frame differs; `pictures` is the
  // number of delivered pictures that were found to be the same.
  void Replayed(bool same, uint64_t pictures);
  // Returns whether Next() continues although recorded frames differ.
  bool goes_on_uncompared() const { return uncompared_ > oldest_; }
  // Passes a frame of Next() to the shadow. `backend` is that of its worker.
  void Show(const worker_link::PublishedFrame& frame, uint64_t number,
            const std::string& backend);
  // Reports the end of the stream to the shadow. Next() has reached it after
  // `frames` frames.
  void Ended(uint64_t frames);

 private:
  struct Print {
    uint64_t number;
    uint64_t fingerprint;
  };

  // Compares the kept frames that were found by number.
  Result<Comparison> Compare(const Find& find) const;

  const Report report_;
  // Set if the caller has named a device on_failure.
  std::optional<PictureHasher> hasher_;
  // True if frames found by number are kept, since the device may still change.
  bool keeps_;
  std::vector<Print> found_;            // by number, in the present call
  std::deque<Print> latest_;            // by number, in the latest calls
  bool latest_unproven_ = false;        // the device has changed after latest_
  std::deque<uint64_t> in_order_;       // fingerprints of Next()
  uint64_t oldest_ = 0;                 // the frame of in_order_.front()
  uint64_t uncompared_ = 0;             // earlier frames are not compared
  bool in_order_unproven_ = false;      // returned by proving()
  std::unique_ptr<ShadowFeed> shadow_;  // null if the stream has no shadow
};

}  // namespace bulkhead::session
