// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/y4m_writer.h"

#include <fmt/format.h>

namespace bulkhead::writers {
namespace {

// The coefficients of BT.601 in units of 1/256. They map 0 to 255 to 16 to 235
// for luma and to 16 to 240 for chroma.
std::byte Luma(int r, int g, int b) {
  return static_cast<std::byte>(16 + ((66 * r + 129 * g + 25 * b + 128) >> 8));
}
std::byte Blueness(int r, int g, int b) {
  return static_cast<std::byte>(128 +
                                ((-38 * r - 74 * g + 112 * b + 128) >> 8));
}
std::byte Redness(int r, int g, int b) {
  return static_cast<std::byte>(128 + ((112 * r - 94 * g - 18 * b + 128) >> 8));
}

}  // namespace

Ratio Y4mRate(Ratio rate) {
  return rate.numerator > 0 && rate.denominator > 0 ? rate : Ratio{25, 1};
}

Y4mWriter::Y4mWriter(const Stream& stream, Output& output)
    : StreamWriter(output), stream_(stream) {}

Status Y4mWriter::WriteHeader(const Picture*) {
  const Ratio rate = Y4mRate(stream_.frame_rate);
  // 0:0 is the format's unknown aspect ratio.
  const Ratio sar = stream_.sample_aspect_ratio;
  return output().Write(fmt::format(
      "YUV4MPEG2 W{} H{} F{}:{} Ip A{}:{} C444 XCOLORRANGE=LIMITED\n",
      stream_.width, stream_.height, rate.numerator, rate.denominator,
      sar.denominator == 0 ? 0 : sar.numerator, sar.denominator));
}

Status Y4mWriter::WriteFrame(const Picture& picture) {
  const size_t pixels = size_t{picture.width} * picture.height;
  planes_.resize(3 * pixels);
  size_t at = 0;
  for (uint32_t y = 0; y < picture.height; ++y) {
    const std::span<const std::byte> row = picture.row(y);
    for (uint32_t x = 0; x < picture.width; ++x, ++at) {
      const int r = std::to_integer<int>(row[3 * x]);
      const int g = std::to_integer<int>(row[3 * x + 1]);
      const int b = std::to_integer<int>(row[3 * x + 2]);
      planes_[at] = Luma(r, g, b);
      planes_[pixels + at] = Blueness(r, g, b);
      planes_[2 * pixels + at] = Redness(r, g, b);
    }
  }
  if (Status status = output().Write("FRAME\n"); !status.ok()) return status;
  return output().Write(planes_);
}

}  // namespace bulkhead::writers
