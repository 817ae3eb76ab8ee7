// SPDX-License-Identifier: Apache-2.0
#include "ipc/pixel_layout.h"

namespace bulkhead::ipc {
namespace {

// One plane in which each element is a pixel of `samples` samples.
constexpr PixelLayout Packed(uint8_t samples, uint8_t bytes) {
  return {.plane_count = 1, .planes = {{{0, 0, samples, bytes}}}};
}

// One plane whose elements cover 2^log2_width pixels each.
constexpr PixelLayout Blocks(uint8_t log2_width, uint8_t samples,
                             uint8_t bytes) {
  return {.plane_count = 1, .planes = {{{log2_width, 0, samples, bytes}}}};
}

// Planes of one sample each: luma (or green), two of chroma, alpha.
constexpr PixelLayout Planar(uint32_t planes, uint8_t log2_width,
                             uint8_t log2_height, uint8_t bytes) {
  const PlaneLayout full = {0, 0, 1, bytes};
  const PlaneLayout chroma = {log2_width, log2_height, 1, bytes};
  PixelLayout layout = {.plane_count = planes,
                        .planes = {full, chroma, chroma}};
  if (planes == 4) layout.planes[3] = full;
  return layout;
}

// A plane of luma and one of interleaved chroma.
constexpr PixelLayout SemiPlanar(uint8_t log2_width, uint8_t log2_height,
                                 uint8_t bytes) {
  return {.plane_count = 2,
          .planes = {{{0, 0, 1, bytes}, {log2_width, log2_height, 2, bytes}}}};
}

constexpr PixelLayout Paletted() {
  PixelLayout layout = Packed(1, 1);
  layout.plane_count = 2;
  layout.planes[1] = {0, 0, 4, 1};
  layout.palette = true;
  return layout;
}

constexpr PixelLayout Floats(PixelLayout layout) {
  layout.floats = true;
  return layout;
}

// The formats that have the same layout.
struct Row {
  // Names separated by spaces. Formats with samples larger than a byte are
  // listed without the "le" or "be" at the end of their names.
  std::string_view names;
  PixelLayout layout;
};

// All pixel formats of FFmpeg 5.1 that lie in the memory of the processor
// (libavutil/pixdesc.c); backends/worker/media/convert/native_output_test.cc
// compares them with the formats of the libavutil in use.
constexpr Row kRows[] = {
    {"yuv444p yuvj444p gbrp", Planar(3, 0, 0, 1)},
    {"yuv444p16 yuv444p9 yuv444p10 gbrp9 gbrp10 gbrp16 yuv444p12 "
     "yuv444p14 gbrp12 gbrp14",
     Planar(3, 0, 0, 2)},
    {"yuv440p yuvj440p", Planar(3, 0, 1, 1)},
    {"yuv440p10 yuv440p12", Planar(3, 0, 1, 2)},
    {"yuv422p yuvj422p", Planar(3, 1, 0, 1)},
    {"yuv422p16 yuv422p10 yuv422p9 yuv422p12 yuv422p14", Planar(3, 1, 0, 2)},
    {"yuv420p yuvj420p", Planar(3, 1, 1, 1)},
    {"yuv420p16 yuv420p9 yuv420p10 yuv420p12 yuv420p14", Planar(3, 1, 1, 2)},
    {"yuv411p yuvj411p", Planar(3, 2, 0, 1)},
    {"yuv410p", Planar(3, 2, 2, 1)},
    {"yuva444p gbrap", Planar(4, 0, 0, 1)},
    {"yuva444p9 yuva444p10 yuva444p16 gbrap16 gbrap12 gbrap10 yuva444p12",
     Planar(4, 0, 0, 2)},
    {"yuva422p", Planar(4, 1, 0, 1)},
    {"yuva422p9 yuva422p10 yuva422p16 yuva422p12", Planar(4, 1, 0, 2)},
    {"yuva420p", Planar(4, 1, 1, 1)},
    {"yuva420p9 yuva420p10 yuva420p16", Planar(4, 1, 1, 2)},
    {"nv24 nv42", SemiPlanar(0, 0, 1)},
    {"p410 p416", SemiPlanar(0, 0, 2)},
    {"nv16", SemiPlanar(1, 0, 1)},
    {"nv20 p210 p216", SemiPlanar(1, 0, 2)},
    {"nv12 nv21", SemiPlanar(1, 1, 1)},
    {"p010 p016", SemiPlanar(1, 1, 2)},
    {"gray bgr8 bgr4_byte rgb8 rgb4_byte bayer_bggr8 bayer_rggb8 "
     "bayer_gbrg8 bayer_grbg8",
     Packed(1, 1)},
    {"gray16 rgb565 rgb555 bgr565 bgr555 rgb444 bgr444 bayer_bggr16 "
     "bayer_rggb16 bayer_gbrg16 bayer_grbg16 gray12 gray10 gray9 gray14",
     Packed(1, 2)},
    {"x2rgb10 x2bgr10", Packed(1, 4)},
    {"ya8", Packed(2, 1)},
    {"ya16", Packed(2, 2)},
    {"rgb24 bgr24", Packed(3, 1)},
    {"rgb48 bgr48 xyz12", Packed(3, 2)},
    {"argb rgba abgr bgra 0rgb rgb0 0bgr bgr0", Packed(4, 1)},
    {"rgba64 bgra64 ayuv64", Packed(4, 2)},
    {"bgr4 rgb4", Blocks(1, 1, 1)},
    {"yuyv422 uyvy422 yvyu422", Blocks(1, 4, 1)},
    {"y210", Blocks(1, 4, 2)},
    {"uyyvyy411", Blocks(2, 6, 1)},
    {"monow monob", Blocks(3, 1, 1)},
    {"pal8", Paletted()},
    {"grayf32", Floats(Packed(1, 4))},
    {"gbrpf32", Floats(Planar(3, 0, 0, 4))},
    {"gbrapf32", Floats(Planar(4, 0, 0, 4))},
};

bool Has(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = names.find(' ');
    if (names.substr(0, end) == name) return true;
    if (end == std::string_view::npos) break;
    names.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

std::optional<PixelLayout> FindPixelLayout(std::string_view name) {
  const bool big = name.ends_with("be");
  const bool ordered = big || name.ends_with("le");
  const std::string_view stem = name.substr(0, name.size() - (ordered ? 2 : 0));
  for (const Row& row : kRows) {
    if ((row.layout.planes[0].sample_bytes > 1) != ordered ||
        !Has(row.names, stem)) {
      continue;
    }
    PixelLayout layout = row.layout;
    layout.big_endian = big;
    return layout;
  }
  return std::nullopt;
}

}  // namespace bulkhead::ipc
