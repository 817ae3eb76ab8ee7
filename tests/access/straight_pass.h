// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// What tells a frame from every other frame of its file.
struct SeenFrame {
  uint64_t index = 0;
  std::optional<int64_t> pts;
  double seconds = 0;  // of the timestamp
  std::string hash;

  bool operator==(const SeenFrame&) const = default;
};

SeenFrame See(const Frame& frame);
std::string Describe(const SeenFrame& frame);

// Every frame that Next() gives from the first on. `failure` is OK at the end
// of the stream.
struct StraightPass {
  std::vector<SeenFrame> frames;
  Status failure;
};
StraightPass DecodeStraight(VideoDecoder& video);

}  // namespace bulkhead::tests
