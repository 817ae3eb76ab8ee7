// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/video_decoder.h>

#include <cstdint>

#include "tools/cli/output.h"
#include "tools/cli/writers/frame_writer.h"

namespace bulkhead::cli {

// Writes one line for each frame with the MD5 of its RGB24 pixels or native
// planes, in the layout of version 2 of FFmpeg's framemd5 muxer, so that a
// plain diff with
//
//     ffmpeg -threads 1 -i FILE -map 0:v:0 -pix_fmt rgb24
//         -fps_mode passthrough -f framemd5 -
//
// shows every wrong picture; for native planes the same without `-pix_fmt`, and
// with -noautorotate. Timestamps are in the time base of the stream,
// while that command uses the inverse of the frame rate: compare the last
// columns only.
class Framemd5Writer : public StreamWriter {
 public:
  // The properties of the stream that the header of the output contains.
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

}  // namespace bulkhead::cli
