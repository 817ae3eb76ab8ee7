// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "backends/worker/media/picture.h"
#include "ipc/error.h"

struct SwsContext;

namespace bulkhead::worker {

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
// In the middle; where that is between two pixels, nearer to the origin.
struct CenterCrop {
  PictureSize size;
};
// The host has drawn the place, as fractions of 2^32 of the places that there
// are: so each worker of a session cuts the same.
struct DrawnCrop {
  PictureSize size;
  uint32_t across = 0;
  uint32_t down = 0;
};
using Transform = std::variant<Resize, Crop, CenterCrop, DrawnCrop>;

// What a session does to its upright RGB pictures, in order. Resizing is
// swscale's, with chroma at full resolution, bit for bit
//
//     ffmpeg -vf format=rgb24,scale=W:H:flags=FILTER+full_chroma_int+
//         full_chroma_inp+accurate_rnd
//
// (rgb48le for deep pictures). Its filters widen when they shrink, so all but
// `neighbor` are antialiased. Without these flags it halves the resolution of
// colours: measured against a filter in floating point, 50 dB instead of 64.
//
// One thread.
class TransformChain {
 public:
  explicit TransformChain(std::vector<Transform> transforms);
  TransformChain(const TransformChain&) = delete;
  TransformChain& operator=(const TransformChain&) = delete;
  ~TransformChain();

  bool empty() const { return transforms_.empty(); }

  // Lays the chain out for pictures of this size, and returns the size of the
  // results. kInvalidArgument for a size of nothing and for a crop beyond its
  // picture, kResourceExhausted above `max_pixels` (0: no limit).
  ipc::Expected<PictureSize> Fit(PictureSize size, uint64_t max_pixels);

  // `source` is RGB24 or RGB48 of the size that was fitted. The result lies in
  // `source` or in memory of the chain, until the next call.
  ipc::Expected<Picture> Apply(const Picture& source);

 private:
  struct FreeSws {
    void operator()(SwsContext* context) const;
  };
  // A transform with its place, for pictures of one size.
  struct Step {
    bool resizes = false;
    Resize resize;
    Crop crop;
    std::unique_ptr<SwsContext, FreeSws> scaler;
    ScratchPicture scratch;
  };

  static ipc::Expected<void> MakeScaler(const Picture& source, Step& step);

  const std::vector<Transform> transforms_;
  std::vector<Step> steps_;
};

}  // namespace bulkhead::worker
