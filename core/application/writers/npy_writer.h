// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/writers/output.h"
#include "core/application/writers/rawvideo_writer.h"

namespace bulkhead::writers {

// Writes all frames as one array [N, H, W, 3] of uint8, for numpy.load(). Takes
// RGB pictures of one size. The header contains N, which is known last. So
// Write() leaves a blank header, and Finish() fills it in. Borrows the output.
class NpyWriter : public FrameWriter {
 public:
  // `width` and `height` are the size of the array if no frame is written.
  NpyWriter(uint32_t width, uint32_t height, Output& output)
      : width_(width), height_(height), output_(output) {}

  Status Write(const Picture& picture) override;
  Status Finish() override;
  bool output_failed() const override { return output_.failed(); }

 private:
  uint32_t width_;
  uint32_t height_;
  Output& output_;
  RawvideoWriter pixels_{output_};
  uint64_t count_ = 0;
};

}  // namespace bulkhead::writers
