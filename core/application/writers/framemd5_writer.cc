// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/framemd5_writer.h"

#include <fmt/format.h>

#include <limits>

#include "core/application/writers/md5.h"

namespace bulkhead::writers {
namespace {

// The value of AV_NOPTS_VALUE, which FFmpeg prints as a plain number.
constexpr int64_t kNoTimestamp = std::numeric_limits<int64_t>::min();

}  // namespace

Framemd5Writer::Framemd5Writer(const Stream& stream, Output& output)
    : StreamWriter(output), stream_(stream) {}

Status Framemd5Writer::WriteHeader(const Picture*) {
  const Ratio sar = stream_.sample_aspect_ratio;
  return output().Write(fmt::format(
      "#format: frame checksums\n"
      "#version: 2\n"
      "#hash: MD5\n"
      "#software: bulkhead\n"
      "#tb 0: {}/{}\n"
      "#media_type 0: video\n"
      "#codec_id 0: rawvideo\n"
      "#dimensions 0: {}x{}\n"
      "#sar 0: {}/{}\n"
      "#stream#, dts,        pts, duration,     size, hash\n",
      stream_.time_base.numerator, stream_.time_base.denominator, stream_.width,
      stream_.height, sar.denominator == 0 ? 0 : sar.numerator,
      sar.denominator == 0 ? 1 : sar.denominator));
}

Status Framemd5Writer::WriteFrame(const Picture& picture) {
  const int64_t pts = picture.pts.value_or(kNoTimestamp);
  return output().Write(fmt::format("0, {:>10}, {:>10}, {:>8}, {:>8}, {}\n",
                                    pts, pts, picture.duration, picture.bytes(),
                                    Md5(picture)));
}

}  // namespace bulkhead::writers
