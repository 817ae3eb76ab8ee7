// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// A session of an honest backend in the same application. A test uses it to
// show that a hostile backend does not disturb other sessions.
class Neighbour {
 public:
  // Returns null if there is no ffmpeg to make a clip.
  static std::unique_ptr<Neighbour> Start();

  // Expects that the next `count` frames are those of an undisturbed decode.
  // Starts again at the end of the clip.
  void ExpectNextFramesExact(int count);

 private:
  Neighbour() = default;

  std::unique_ptr<Host> host_;
  std::optional<VideoDecoder> video_;
  std::vector<std::string> expected_;
  size_t next_ = 0;
};

}  // namespace bulkhead::tests
