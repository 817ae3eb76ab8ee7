// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/picture.h"

#include <algorithm>
#include <cstring>

extern "C" {
#include <libavutil/common.h>
#include <libavutil/imgutils.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
}

namespace bulkhead::worker::convert {
namespace {

constexpr int kAlignment = 64;
// The number of bytes that swscale may read past the last row of a plane.
constexpr size_t kOverread = 1024;

struct Plane {
  int width;
  int height;
  int step;  // bytes from one pixel to the next
};

Plane PlaneOf(const Picture& picture, int index) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(picture.format);
  int steps[4] = {};
  av_image_fill_max_pixsteps(steps, nullptr, descriptor);
  const bool is_chroma = index == 1 || index == 2;
  return {is_chroma ? AV_CEIL_RSHIFT(picture.width, descriptor->log2_chroma_w)
                    : picture.width,
          is_chroma ? AV_CEIL_RSHIFT(picture.height, descriptor->log2_chroma_h)
                    : picture.height,
          steps[index]};
}

// Copies pixel (x, y) to (y, x), in blocks that fit the cache.
template <int kStep>
void Transpose(const uint8_t* source, ptrdiff_t source_stride, uint8_t* target,
               ptrdiff_t target_stride, int target_width, int target_height) {
  constexpr int kBlock = 32;
  for (int top = 0; top < target_height; top += kBlock) {
    const int bottom = std::min(top + kBlock, target_height);
    for (int left = 0; left < target_width; left += kBlock) {
      const int right = std::min(left + kBlock, target_width);
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
          std::memcpy(target + y * target_stride + x * kStep,
                      source + x * source_stride + y * kStep, kStep);
        }
      }
    }
  }
}

template <int kStep>
void MirrorRows(const uint8_t* source, ptrdiff_t source_stride, uint8_t* target,
                ptrdiff_t target_stride, int width, int height) {
  for (int y = 0; y < height; ++y) {
    const uint8_t* from = source + y * source_stride;
    uint8_t* to = target + y * target_stride;
    for (int x = 0; x < width; ++x) {
      std::memcpy(to + x * kStep, from + (width - 1 - x) * kStep, kStep);
    }
  }
}

template <int kStep>
void TurnPlane(const uint8_t* from, ptrdiff_t from_stride, const Plane& source,
               uint8_t* to, ptrdiff_t to_stride, const Plane& target,
               const demux::Orientation& orientation) {
  if (!orientation.transpose) {
    MirrorRows<kStep>(from, from_stride, to, to_stride, target.width,
                      target.height);
    return;
  }
  // With a negative stride, rows are read or written from the last on.
  if (orientation.flip_source_rows) {
    from += from_stride * (source.height - 1);
    from_stride = -from_stride;
  }
  if (orientation.flip_result_rows) {
    to += to_stride * (target.height - 1);
    to_stride = -to_stride;
  }
  Transpose<kStep>(from, from_stride, to, to_stride, target.width,
                   target.height);
}

}  // namespace

Picture PictureOf(const bulkhead_frame& frame, AVPixelFormat format) {
  Picture picture{format, frame.width, frame.height, {}, {}};
  std::copy_n(frame.data, 4, picture.data);
  std::copy_n(frame.stride, 4, picture.stride);
  return picture;
}

bool CanTurn(const demux::Orientation& orientation, AVPixelFormat format) {
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
  const bool chroma_is_square =
      descriptor->log2_chroma_w == descriptor->log2_chroma_h;
  if (orientation.transpose) {
    return (descriptor->flags &
            (AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM)) == 0 &&
           chroma_is_square;
  }
  if (orientation.flip_horizontally) {
    return (descriptor->flags & AV_PIX_FMT_FLAG_BITSTREAM) == 0 &&
           (chroma_is_square ||
            descriptor->comp[0].plane != descriptor->comp[1].plane);
  }
  return true;
}

void TurnPicture(const Picture& source, const demux::Orientation& orientation,
                 const Picture& target) {
  const bool has_palette =
      (av_pix_fmt_desc_get(source.format)->flags & AV_PIX_FMT_FLAG_PAL) != 0;
  const int planes = av_pix_fmt_count_planes(source.format);
  if (has_palette) std::memcpy(target.data[1], source.data[1], AVPALETTE_SIZE);
  for (int i = 0; i < planes && !(has_palette && i == 1); ++i) {
    const Plane from = PlaneOf(source, i);
    const Plane to = PlaneOf(target, i);
    const auto turn = [&]<int kStep>() {
      TurnPlane<kStep>(source.data[i], source.stride[i], from, target.data[i],
                       target.stride[i], to, orientation);
    };
    switch (from.step) {
      case 1:
        turn.operator()<1>();
        break;
      case 2:
        turn.operator()<2>();
        break;
      case 3:
        turn.operator()<3>();
        break;
      case 4:
        turn.operator()<4>();
        break;
      case 6:
        turn.operator()<6>();
        break;
      case 8:
        turn.operator()<8>();
        break;
      case 12:
        turn.operator()<12>();
        break;
      case 16:
        turn.operator()<16>();
        break;
    }
  }
}

Picture FlippedVertically(const Picture& picture) {
  Picture flipped = picture;
  const bool has_palette =
      (av_pix_fmt_desc_get(picture.format)->flags & AV_PIX_FMT_FLAG_PAL) != 0;
  const int planes = av_pix_fmt_count_planes(picture.format);
  for (int i = 0; i < planes && !(has_palette && i == 1); ++i) {
    const ptrdiff_t last_row = PlaneOf(picture, i).height - 1;
    flipped.data[i] += last_row * picture.stride[i];
    flipped.stride[i] = -picture.stride[i];
  }
  return flipped;
}

void CopyRows(const Picture& source, uint8_t* target, ptrdiff_t target_stride) {
  const Plane plane = PlaneOf(source, 0);
  for (int y = 0; y < source.height; ++y) {
    std::memcpy(
        target + y * target_stride,
        source.data[0] + static_cast<ptrdiff_t>(y) * source.stride[0],
        static_cast<size_t>(source.width) * static_cast<size_t>(plane.step));
  }
}

void CopyPlanes(const Picture& source, const Picture& target) {
  const uint8_t* data[4];
  std::copy_n(source.data, 4, data);
  uint8_t* to[4];
  std::copy_n(target.data, 4, to);
  int to_stride[4];
  std::copy_n(target.stride, 4, to_stride);
  av_image_copy(to, to_stride, data, source.stride, source.format, source.width,
                source.height);
}

void ScratchPicture::AvFree::operator()(uint8_t* memory) const {
  av_free(memory);
}

const Picture* ScratchPicture::Get(AVPixelFormat format, int width,
                                   int height) {
  if (memory_ != nullptr && picture_.format == format &&
      picture_.width == width && picture_.height == height) {
    return &picture_;
  }
  memory_.reset();
  picture_ = {format, width, height, {}, {}};
  // swscale writes whole blocks of pixels, so rows are rounded up to blocks.
  const int wide = FFALIGN(width, 16);
  if (av_image_fill_linesizes(picture_.stride, format, wide) < 0) {
    return nullptr;
  }
  for (int& stride : picture_.stride) stride = FFALIGN(stride, kAlignment);
  const int bytes = av_image_fill_pointers(picture_.data, format, height,
                                           nullptr, picture_.stride);
  if (bytes < 0) return nullptr;
  memory_.reset(static_cast<uint8_t*>(
      av_mallocz(static_cast<size_t>(bytes) + kOverread)));
  if (memory_ == nullptr) return nullptr;
  av_image_fill_pointers(picture_.data, format, height, memory_.get(),
                         picture_.stride);
  return &picture_;
}

}  // namespace bulkhead::worker::convert
