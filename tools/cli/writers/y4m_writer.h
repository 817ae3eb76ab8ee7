// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <vector>

#include "tools/cli/output.h"
#include "tools/cli/writers/frame_writer.h"

namespace bulkhead::cli {

// YUV4MPEG2, which players read from a pipe: 4:4:4, 8 bits, BT.601 of limited
// range, whatever the file had. Frames are RGB here, and the way back loses up
// to three steps of 255: for eyes, not for measuring; that is rawvideo's.
class Y4mWriter : public FrameWriter {
 public:
  struct Stream {
    uint32_t width = 0;
    uint32_t height = 0;
    Ratio frame_rate;
    Ratio sample_aspect_ratio;
  };

  Y4mWriter(const Stream& stream, Output& output);

  // Of bytes.
  Status Write(const Picture& picture) override;
  Status Finish() override;

 private:
  Status WriteHeader();

  const Stream stream_;
  Output& output_;
  bool header_written_ = false;
  std::vector<std::byte> planes_;
};

}  // namespace bulkhead::cli
