// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <vector>

#include "core/application/writers/frame_writer.h"
#include "core/application/writers/output.h"

namespace bulkhead::writers {

// Returns the rate for a header of YUV4MPEG2: 25 instead of an unknown rate,
// since the format requires a rate.
Ratio Y4mRate(Ratio rate);

// Writes RGB frames as YUV4MPEG2, which players read from a pipe. The output is
// always 4:4:4 with 8 bits, by the BT.601 matrix in limited range. Converting
// RGB back to YUV changes values by up to 3 of 255. So this writer is for
// watching; for measurements use NativeY4mWriter. Borrows the output.
class Y4mWriter : public StreamWriter {
 public:
  struct Stream {
    uint32_t width = 0;
    uint32_t height = 0;
    Ratio frame_rate;
    Ratio sample_aspect_ratio;
  };

  Y4mWriter(const Stream& stream, Output& output);

 private:
  Status WriteHeader(const Picture* first) override;
  // Requires Dtype::kUint8.
  Status WriteFrame(const Picture& picture) override;

  const Stream stream_;
  std::vector<std::byte> planes_;  // A buffer: Y, Cb and Cr of one frame.
};

}  // namespace bulkhead::writers
