// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <vector>

#include "tools/cli/output.h"
#include "tools/cli/writers/frame_writer.h"

namespace bulkhead::cli {

// Writes RGB as YUV4MPEG2, which players read from a pipe: 4:4:4, 8 bits,
// BT.601 of limited range, whatever the file had. The conversion from RGB back
// to YUV loses up to 3 steps of 255, so use this format to watch, and
// NativeY4mWriter to measure. Borrows the output.
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
  // The picture must consist of bytes, not floats.
  Status WriteFrame(const Picture& picture) override;

  const Stream stream_;
  std::vector<std::byte> planes_;
};

}  // namespace bulkhead::cli
