// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/output.h"
#include "tools/cli/writers/frame_writer.h"

namespace bulkhead::cli {

// Writes the pixels of all frames, one frame after the other, without padding
// and without a header. To watch RGB: `ffplay -f rawvideo -pixel_format rgb24
// -video_size WxH`. Writes the planes of a native frame one after the other, as
// `ffmpeg -f rawvideo` does. Writes floats in the byte order of this machine.
// Borrows the output.
class RawvideoWriter : public StreamWriter {
 public:
  using StreamWriter::StreamWriter;

 private:
  Status WriteFrame(const Picture& picture) override;
};

}  // namespace bulkhead::cli
