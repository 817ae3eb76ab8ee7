// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "backends/worker/media/convert/picture.h"
#include "backends/worker/media/convert/scaler_context.h"
#include "ipc/error.h"

namespace bulkhead::worker::convert {

struct Resize {
  enum class Filter { kBilinear, kNearest, kBicubic, kArea, kLanczos };
  PictureSize size;
  Filter filter = Filter::kBilinear;
};
struct Crop {
  PictureSize size;
  uint32_t left = 0;
  uint32_t top = 0;
};
// Crops the middle. A crop that cannot be centered exactly is half a pixel
// nearer to the top or left edge.
struct CenterCrop {
  PictureSize size;
};
// A random crop. The host draws the random numbers, so that each worker of a
// session crops the same part. The left edge is across * (slack + 1) / 2^32,
// rounded down, where `slack` is the picture's width minus the crop's. The top
// edge follows in the same way from `down` and the heights.
struct DrawnCrop {
  PictureSize size;
  uint32_t across = 0;
  uint32_t down = 0;
};
using Transform = std::variant<Resize, Crop, CenterCrop, DrawnCrop>;

// Applies the transforms of a session to its upright RGB pictures, in order.
// Resizes with swscale and chroma at full resolution, with the exact output of
//
//     ffmpeg -vf format=rgb24,scale=W:H:flags=FILTER+full_chroma_int+
//         full_chroma_inp+accurate_rnd
//
// (rgb48le for pictures of more than 8 bits). swscale's filters widen when a
// picture shrinks, so all of them but `neighbor` (kNearest) are antialiased.
// Without these flags swscale would halve the resolution of colours: compared
// with a filter in floating point, the result would have a PSNR of 50 dB
// instead of 64 dB.
//
// Used by one thread.
class TransformChain {
 public:
  explicit TransformChain(std::vector<Transform> transforms);
  TransformChain(const TransformChain&) = delete;
  TransformChain& operator=(const TransformChain&) = delete;
  ~TransformChain();

  bool empty() const { return transforms_.empty(); }

  // Prepares the chain for pictures of this size, and returns the size of the
  // results. Fails with kInvalidArgument for an empty size and for a crop that
  // exceeds its picture, and with kResourceExhausted above `max_pixels` (0
  // means no limit).
  ipc::Expected<PictureSize> Fit(PictureSize size, uint64_t max_pixels);

  // Transforms `source`, an RGB24 or RGB48 picture of the size passed to Fit.
  // The result lies in `source` or in memory of the chain, valid until the next
  // Apply(). Fails if memory is short or swscale fails.
  ipc::Expected<Picture> Apply(const Picture& source);

 private:
  // A transform prepared for pictures of one size.
  struct Step {
    bool resizes = false;
    Resize resize;
    Crop crop;
    SwsContextPtr scaler;
    ScratchPicture scratch;
  };

  static ipc::Expected<void> MakeScaler(const Picture& source, Step& step);

  const std::vector<Transform> transforms_;
  std::vector<Step> steps_;
};

}  // namespace bulkhead::worker::convert
