// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// A session of honest processes in the same application, of which it is known
// what it delivers when nobody disturbs it.
class Neighbour {
 public:
  // nullptr where there is no ffmpeg to make a clip with.
  static std::unique_ptr<Neighbour> Start();

  // Begins anew at the end of its clip.
  void ExpectNextFramesExact(int count);

 private:
  Neighbour() = default;

  std::unique_ptr<Host> host_;
  std::optional<VideoDecoder> video_;
  std::vector<std::string> expected_;
  size_t next_ = 0;
};

}  // namespace bulkhead::tests
