// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/frame_contents.h"

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

extern "C" {
#include <libavutil/common.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libavutil/samplefmt.h>
}

namespace bulkhead::worker::decode {
namespace {

std::string RatioOf(bulkhead_rational value) {
  if (value.numerator <= 0 || value.denominator <= 0) return "unknown";
  const int32_t common = std::gcd(value.numerator, value.denominator);
  return std::to_string(value.numerator / common) + ":" +
         std::to_string(value.denominator / common);
}

constexpr char kColors[] = "code points of ITU-T H.273";
constexpr char kOthers[] = "those that FFmpeg's decoder of the codec gives";
constexpr FrameField kFields[] = {
    {"chroma_location", "color-2", "1 left, 2 center, 3 top left",
     [](const auto& it) { return std::to_string(it.chroma_location); }},
    {"color_range", "color-3", "0 unknown, 1 limited, 2 full",
     [](const auto& it) { return std::to_string(it.color_range); }},
    {"color_primaries", "color-3", kColors,
     [](const auto& it) { return std::to_string(it.color_primaries); }},
    {"color_transfer", "color-3", kColors,
     [](const auto& it) { return std::to_string(it.color_transfer); }},
    {"color_space", "color-3", kColors,
     [](const auto& it) { return std::to_string(it.color_space); }},
    {"sample_aspect_ratio", "frame-11", kOthers,
     [](const auto& it) { return RatioOf(it.sample_aspect_ratio); }},
    {"duration", "frame-11", kOthers,
     [](const auto& it) { return std::to_string(it.duration); }},
    {"interlaced", "frame-11", kOthers,
     [](const auto& it) { return std::to_string(it.interlaced != 0); }},
    {"top_field_first", "frame-11", kOthers,
     [](const auto& it) { return std::to_string(it.top_field_first != 0); }},
};

uint64_t HashRows(const uint8_t* data, int stride, int row, int rows,
                  uint64_t seed) {
  for (int y = 0; y < rows && row > 0; ++y) {
    seed = XXH3_64bits_withSeed(data + ptrdiff_t{y} * stride,
                                static_cast<size_t>(row), seed);
  }
  return seed;
}

uint64_t HashOfPicture(const bulkhead_frame& frame) {
  const AVPixelFormat format = av_get_pix_fmt(frame.pixel_format);
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
  if (descriptor == nullptr || frame.width <= 0 || frame.height <= 0) return 0;
  const int planes = std::min(av_pix_fmt_count_planes(format),
                              static_cast<int>(frame.plane_count));
  uint64_t hash = 0;
  for (int plane = 0; plane < std::min(planes, BULKHEAD_MAX_PLANES); ++plane) {
    if (frame.data[plane] == nullptr) return 0;
    const int shift = plane == 1 || plane == 2 ? descriptor->log2_chroma_h : 0;
    hash = HashRows(frame.data[plane], frame.stride[plane],
                    av_image_get_linesize(format, frame.width, plane),
                    AV_CEIL_RSHIFT(frame.height, shift), hash);
  }
  return hash;
}

uint64_t HashOfSamples(const bulkhead_frame& frame) {
  const AVSampleFormat format = av_get_sample_fmt(frame.sample_format);
  if (format == AV_SAMPLE_FMT_NONE || frame.channels <= 0) return 0;
  const bool planar = av_sample_fmt_is_planar(format) != 0;
  const int planes = planar ? frame.channels : 1;
  const int samples = frame.sample_count * (planar ? 1 : frame.channels);
  uint64_t hash = 0;
  for (int plane = 0; plane < planes && samples > 0; ++plane) {
    if (frame.planes[plane] == nullptr) return 0;
    hash = HashRows(frame.planes[plane], 0,
                    samples * av_get_bytes_per_sample(format), 1, hash);
  }
  return hash;
}

}  // namespace

const FrameField* FindFrameField(std::string_view name) {
  const auto field =
      std::find_if(std::begin(kFields), std::end(kFields),
                   [&](const FrameField& each) { return each.name == name; });
  return field != std::end(kFields) ? field : nullptr;
}

uint64_t HashOf(const bulkhead_frame& frame) {
  if (frame.pixel_format != nullptr) return HashOfPicture(frame);
  const bool audio = frame.sample_format != nullptr && frame.planes != nullptr;
  return audio ? HashOfSamples(frame) : 0;
}

}  // namespace bulkhead::worker::decode
