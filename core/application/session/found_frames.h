// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "core/application/session/failover.h"
#include "core/application/session/frame_finder.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// The fingerprints of the frames that were found by number last, so that those
// of another device can be compared with them. FrameSequence does the same for
// frames in order. Few frames are kept, since each may cost a seek. Not
// thread-safe.
class FoundFrames {
 public:
  using Find = std::function<Result<FrameFinder::Found>(uint64_t)>;

  // Begins a call of the application. Of the frames that Add() takes, those of
  // the call are recorded by Delivered(), at its end.
  void Begin() { found_.clear(); }
  void Add(const FoundFrame& found);
  void Delivered();
  // Records that the frames from now on are those of another device. Forgets
  // what was found and not delivered.
  void ChangeDevice();
  // Has `find` find the recorded frames again if the device has changed, and
  // compares them, once. After an error it does so again.
  Result<std::optional<Comparison>> Compare(const Find& find);

 private:
  struct Print {
    uint64_t number;
    uint64_t fingerprint;
  };

  std::vector<Print> found_;
  std::deque<Print> latest_;
  bool other_device_ = false;
};

}  // namespace bulkhead::session
