// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

namespace bulkhead {

// What is done to the pictures of a stream before they are delivered, in the
// worker, in the order of VideoOptions::transforms, after rotation:
//
//     options.transforms = {Resize{.height = 256, .width = 340},
//                           CenterCrop{.height = 224, .width = 224}};
//
// Sizes are positive. A crop lies within its picture: else kInvalidArgument
// when the stream is opened. Every picture of a stream is treated alike, also
// after its worker was replaced.

struct Resize {
  // All but kNearest are antialiased where they shrink.
  enum class Filter : uint8_t {
    kBilinear,
    kNearest,
    kBicubic,
    kArea,
    kLanczos,
  };
  uint32_t height = 0;
  uint32_t width = 0;
  Filter filter = Filter::kBilinear;
};

// The middle; where that is between two pixels, nearer to the upper left.
struct CenterCrop {
  uint32_t height = 0;
  uint32_t width = 0;
};

struct Crop {
  uint32_t top = 0;
  uint32_t left = 0;
  uint32_t height = 0;
  uint32_t width = 0;
};

// A place that the seed chooses when the stream is opened, each equally likely.
// For another place, another seed.
struct RandomCrop {
  uint32_t height = 0;
  uint32_t width = 0;
  uint64_t seed = 0;
};

using Transform = std::variant<Resize, CenterCrop, Crop, RandomCrop>;

}  // namespace bulkhead
