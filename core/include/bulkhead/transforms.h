// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

namespace bulkhead {

// A transform changes the pictures of a stream before they are delivered. The
// worker applies transforms after rotation, in the order of
// VideoOptions::transforms:
//
//     options.transforms = {Resize{.height = 256, .width = 340},
//                           CenterCrop{.height = 224, .width = 224}};
//
// Sizes are in pixels. Opening the stream fails with kInvalidArgument if a size
// is 0, or if a crop does not lie within its picture. Every picture of a stream
// is transformed alike, also after a worker died and was replaced.

// Scales the picture to `height` x `width`; the aspect ratio may change.
struct Resize {
  // All filters but kNearest are antialiased when they shrink.
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

// Cuts out the middle. If the exact middle is between two pixels, the pixel to
// the upper left is taken as the middle.
struct CenterCrop {
  uint32_t height = 0;
  uint32_t width = 0;
};

// Cuts out the rectangle whose upper left pixel is (`left`, `top`).
struct Crop {
  uint32_t top = 0;
  uint32_t left = 0;
  uint32_t height = 0;
  uint32_t width = 0;
};

// Cuts out a rectangle at a place that `seed` chooses when the stream is
// opened; each place is equally likely. The same seed gives the same place.
struct RandomCrop {
  uint32_t height = 0;
  uint32_t width = 0;
  uint64_t seed = 0;
};

using Transform = std::variant<Resize, CenterCrop, Crop, RandomCrop>;

}  // namespace bulkhead
