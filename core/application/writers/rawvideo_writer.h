// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/application/writers/frame_writer.h"
#include "core/application/writers/output.h"

namespace bulkhead::writers {

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

}  // namespace bulkhead::writers
