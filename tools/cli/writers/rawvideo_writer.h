// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/output.h"
#include "tools/cli/writers/frame_writer.h"

namespace bulkhead::cli {

// The bare pixels of one frame after the other, rows packed: what
// `ffplay -f rawvideo -pixel_format rgb24 -video_size WxH` reads. Floats as
// this machine holds them.
class RawvideoWriter : public FrameWriter {
 public:
  explicit RawvideoWriter(Output& output) : output_(output) {}

  Status Write(const Picture& picture) override;
  Status Finish() override { return output_.Close(); }

 private:
  Output& output_;
};

}  // namespace bulkhead::cli
