// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <cstdint>

#include "core/application/writers/frame_writer.h"
#include "core/application/writers/output.h"

namespace bulkhead::writers {

// Writes one line for each frame with the MD5 of its RGB24 pixels or native
// planes, in the layout of version 2 of FFmpeg's framemd5 muxer. To find wrong
// pictures, compare the last column with the output of
//
//     ffmpeg -threads 1 -i FILE -map 0:v:0 -pix_fmt rgb24
//         -fps_mode passthrough -f framemd5 -
//
// For native planes, leave out `-pix_fmt rgb24` and add -noautorotate. The
// other columns may differ: timestamps here are in the time base of the stream,
// FFmpeg's in units of a frame. Borrows the output.
class Framemd5Writer : public StreamWriter {
 public:
  // The properties of the stream for the header.
  struct Stream {
    uint32_t width = 0;
    uint32_t height = 0;
    Ratio time_base;
    Ratio sample_aspect_ratio;
  };

  Framemd5Writer(const Stream& stream, Output& output);

 private:
  Status WriteHeader(const Picture* first) override;
  Status WriteFrame(const Picture& picture) override;

  const Stream stream_;
};

}  // namespace bulkhead::writers
