// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>
#include <bulkhead/video_decoder.h>

#include <string>

#include "core/application/writers/frame_writer.h"
#include "core/application/writers/output.h"

namespace bulkhead::writers {

// Writes the planes of native frames as YUV4MPEG2. Takes 4:2:0, 4:1:1, 4:2:2,
// 4:4:4 and gray of 8 to 16 bits. The output equals, byte for byte, that of
//
//     ffmpeg -noautorotate -i FILE -map 0:v:0 -fps_mode passthrough
//         -f yuv4mpegpipe -strict -1 -
//
// of FFmpeg 5.1, with one exception: for an odd width and more than 8 bits,
// FFmpeg writes incomplete rows of chroma. Here they are complete, as FFmpeg's
// own reader expects them. Borrows the output.
class NativeY4mWriter : public StreamWriter {
 public:
  struct Stream {
    std::string pixel_format;
    uint32_t width = 0;
    uint32_t height = 0;
    Ratio frame_rate;
    Ratio sample_aspect_ratio;
    // The colours of the stream, used if there is no frame.
    Color color;
  };

  // Returns kInvalidArgument if YUV4MPEG2 cannot express the pixel format.
  static Status Check(const std::string& pixel_format);

  NativeY4mWriter(const Stream& stream, Output& output);

 private:
  Status WriteHeader(const Picture* first) override;
  Status WriteFrame(const Picture& picture) override;

  const Stream stream_;
};

}  // namespace bulkhead::writers
