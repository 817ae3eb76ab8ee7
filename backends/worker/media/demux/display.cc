// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/display.h"

#include <algorithm>
#include <utility>

extern "C" {
#include <libavformat/avformat.h>
}

namespace bulkhead::worker::demux {

const int32_t* DisplayMatrixOf(const AVStream& stream) {
  size_t bytes = 0;
  const uint8_t* data =
      av_stream_get_side_data(&stream, AV_PKT_DATA_DISPLAYMATRIX, &bytes);
  if (data == nullptr || bytes < 9 * sizeof(int32_t)) return nullptr;
  return reinterpret_cast<const int32_t*>(data);
}

Display DisplayOf(const AVStream& stream) {
  const AVCodecParameters& codec = *stream.codecpar;
  Display display;
  display.orientation = OrientationFromDisplayMatrix(DisplayMatrixOf(stream));
  display.width = static_cast<uint32_t>(std::max(codec.width, 0));
  display.height = static_cast<uint32_t>(std::max(codec.height, 0));
  AVRational aspect = stream.sample_aspect_ratio.num != 0
                          ? stream.sample_aspect_ratio
                          : codec.sample_aspect_ratio;
  if (display.orientation.transpose) {
    std::swap(display.width, display.height);
    if (aspect.num != 0) std::swap(aspect.num, aspect.den);
  }
  display.sample_aspect_ratio = {aspect.num, aspect.den};
  return display;
}

}  // namespace bulkhead::worker::demux
