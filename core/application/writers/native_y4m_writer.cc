// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/native_y4m_writer.h"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/application/writers/y4m_writer.h"

namespace bulkhead::writers {
namespace {

// Values of Color's `range` and `chroma_location`.
constexpr uint8_t kLimitedRange = 1;
constexpr uint8_t kFullRange = 2;
constexpr uint8_t kLeft = 1;
constexpr uint8_t kTopLeft = 3;

// A pixel format that YUV4MPEG2 has, and its tag in the header.
struct Format {
  std::string_view pixel_format;
  std::string_view tag;
};
constexpr Format kFormats[] = {
    {"gray", "mono"},
    {"gray9le", "mono9"},
    {"gray10le", "mono10"},
    {"gray12le", "mono12"},
    {"gray16le", "mono16"},
    {"yuv411p", "411 XYSCSS=411"},
    {"yuv420p", "420jpeg XYSCSS=420JPEG"},  // see TagOf()
    {"yuv422p", "422 XYSCSS=422"},
    {"yuv444p", "444 XYSCSS=444"},
    {"yuvj420p", "420jpeg XYSCSS=420JPEG"},
    {"yuvj422p", "422 XYSCSS=422"},
    {"yuvj444p", "444 XYSCSS=444"},
    {"yuv420p9le", "420p9 XYSCSS=420P9"},
    {"yuv422p9le", "422p9 XYSCSS=422P9"},
    {"yuv444p9le", "444p9 XYSCSS=444P9"},
    {"yuv420p10le", "420p10 XYSCSS=420P10"},
    {"yuv422p10le", "422p10 XYSCSS=422P10"},
    {"yuv444p10le", "444p10 XYSCSS=444P10"},
    {"yuv420p12le", "420p12 XYSCSS=420P12"},
    {"yuv422p12le", "422p12 XYSCSS=422P12"},
    {"yuv444p12le", "444p12 XYSCSS=444P12"},
    {"yuv420p14le", "420p14 XYSCSS=420P14"},
    {"yuv422p14le", "422p14 XYSCSS=422P14"},
    {"yuv444p14le", "444p14 XYSCSS=444P14"},
    {"yuv420p16le", "420p16 XYSCSS=420P16"},
    {"yuv422p16le", "422p16 XYSCSS=422P16"},
    {"yuv444p16le", "444p16 XYSCSS=444P16"},
};

std::optional<std::string_view> TagOf(std::string_view pixel_format) {
  for (const Format& format : kFormats) {
    if (format.pixel_format == pixel_format) return format.tag;
  }
  return std::nullopt;
}

// Returns the tag of a format that YUV4MPEG2 has. The tag of yuv420p depends on
// the chroma location.
std::string_view TagOf(std::string_view pixel_format, const Color& color) {
  if (pixel_format == "yuv420p" && color.chroma_location == kLeft) {
    return "420mpeg2 XYSCSS=420MPEG2";
  }
  if (pixel_format == "yuv420p" && color.chroma_location == kTopLeft) {
    return "420paldv XYSCSS=420PALDV";
  }
  return TagOf(pixel_format).value_or("");
}

std::string_view RangeOf(std::string_view pixel_format, const Color& color) {
  if (pixel_format.starts_with("yuvj") || color.range == kFullRange) {
    return " XCOLORRANGE=FULL";
  }
  return color.range == kLimitedRange ? " XCOLORRANGE=LIMITED" : "";
}

char LetterOf(FieldOrder order) {
  if (order == FieldOrder::kProgressive) return 'p';
  return order == FieldOrder::kTopFirst ? 't' : 'b';
}

}  // namespace

Status NativeY4mWriter::Check(const std::string& pixel_format) {
  if (TagOf(pixel_format)) return Status();
  return Status(Code::kInvalidArgument,
                "y4m has no pixel format " + pixel_format +
                    "; choose --format rawvideo --pixel-format native, or "
                    "convert to 4:4:4 with --pixel-format rgb24");
}

NativeY4mWriter::NativeY4mWriter(const Stream& stream, Output& output)
    : StreamWriter(output), stream_(stream) {}

Status NativeY4mWriter::WriteHeader(const Picture* first) {
  const Color color = first ? first->color : stream_.color;
  const FieldOrder order =
      first ? first->field_order : FieldOrder::kProgressive;
  const Ratio rate = Y4mRate(stream_.frame_rate);
  // 0:0 is the format's unknown aspect ratio.
  const Ratio sar = stream_.sample_aspect_ratio;
  const bool known = sar.numerator > 0 && sar.denominator > 0;
  return output().Write(fmt::format(
      "YUV4MPEG2 W{} H{} F{}:{} I{} A{}:{} C{}{}\n", stream_.width,
      stream_.height, rate.numerator, rate.denominator, LetterOf(order),
      known ? sar.numerator : 0, known ? sar.denominator : 0,
      TagOf(stream_.pixel_format, color),
      RangeOf(stream_.pixel_format, color)));
}

Status NativeY4mWriter::WriteFrame(const Picture& picture) {
  if (Status status = output().Write("FRAME\n"); !status.ok()) return status;
  return picture.ForEachRow(
      [this](std::span<const std::byte> row) { return output().Write(row); });
}

}  // namespace bulkhead::writers
