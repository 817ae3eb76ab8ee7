// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_codec/runtime_buffers.h"

#include <algorithm>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace bulkhead::libav_codec {
namespace {

// The size of libavcodec's widest vectors on any CPU.
constexpr int kAlignment = 64;
// The padding of libavcodec's own allocator: 16 bytes, and room to align.
constexpr int kPadding = 16 + kAlignment;

// Returns whether the runtime can hold pictures of the format.
bool IsPlain(const AVPixFmtDescriptor* format) {
  constexpr uint64_t kOdd =
      AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM;
  return format != nullptr && (format->flags & kOdd) == 0;
}

// Widens the picture until every plane's row is a multiple of the alignment.
// Rounding each plane by itself would break decoders that expect a luma row to
// be twice as long as a chroma row. A single plane is not widened: the runtime
// rounds its row, and the picture then fits a slot of the frame pool.
bool WidenToAlignedRows(AVPixelFormat format, int planes, int* width) {
  int strides[4];
  for (;;) {
    if (av_image_fill_linesizes(strides, format, *width) < 0) return false;
    if (planes == 1) return true;
    if (std::all_of(strides, strides + planes,
                    [](int stride) { return stride % kAlignment == 0; })) {
      return true;
    }
    // Adds the lowest bit that is set: one more power of 2 divides the sum.
    *width += *width & -*width;
  }
}

// Returns whether the buffer has memory for all planes.
bool Holds(const bulkhead_buffer& buffer, int planes) {
  if (buffer.plane_count < static_cast<uint32_t>(planes)) return false;
  for (int plane = 0; plane < planes; ++plane) {
    if (buffer.data[plane] == nullptr) return false;
  }
  return true;
}

}  // namespace

std::shared_ptr<RuntimeBuffers> RuntimeBuffers::Create(
    const bulkhead_runtime& runtime) {
  return std::shared_ptr<RuntimeBuffers>(new RuntimeBuffers(runtime));
}

RuntimeBuffers::RuntimeBuffers(const bulkhead_runtime& runtime)
    : runtime_(runtime) {}

int RuntimeBuffers::Allocate(AVCodecContext* context, AVFrame* frame,
                             int flags) {
  const auto format = static_cast<AVPixelFormat>(frame->format);
  const int planes = av_pix_fmt_count_planes(format);
  int width = frame->width;
  int height = frame->height;
  int ignored_alignment[AV_NUM_DATA_POINTERS];
  avcodec_align_dimensions2(context, &width, &height, ignored_alignment);
  if (!(context->codec->capabilities & AV_CODEC_CAP_DR1) ||
      !IsPlain(av_pix_fmt_desc_get(format)) || planes < 1 ||
      planes > BULKHEAD_MAX_PLANES ||
      !WidenToAlignedRows(format, planes, &width)) {
    return avcodec_default_get_buffer2(context, frame, flags);
  }
  const bulkhead_buffer_request request = {
      .size = sizeof(request),
      .pixel_format = av_get_pix_fmt_name(format),
      .width = width,
      .height = height,
      .alignment = kAlignment,
      .padding = kPadding,
  };
  bulkhead_buffer buffer = {.size = sizeof(buffer)};
  const bulkhead_result acquired =
      runtime_.acquire_buffer(runtime_.context, &request, &buffer);
  if (acquired == BULKHEAD_UNSUPPORTED) {
    return avcodec_default_get_buffer2(context, frame, flags);
  }
  if (acquired != BULKHEAD_OK) {
    refusal_ = acquired;
    return AVERROR(ENOMEM);
  }
  if (!Holds(buffer, planes)) {
    runtime_.release_buffer(runtime_.context, buffer.handle);
    return avcodec_default_get_buffer2(context, frame, flags);
  }
  return Lend(buffer, planes, frame);
}

int RuntimeBuffers::Lend(const bulkhead_buffer& buffer, int planes,
                         AVFrame* frame) {
  // One AVBufferRef covers all planes, from the lowest to the highest address.
  uint8_t* begin = buffer.data[0];
  uint8_t* end = buffer.data[0] + buffer.bytes[0];
  for (int plane = 1; plane < planes; ++plane) {
    begin = std::min(begin, buffer.data[plane]);
    end = std::max(end, buffer.data[plane] + buffer.bytes[plane]);
  }
  auto loan = std::make_unique<Loan>(Loan{shared_from_this(), buffer.handle});
  {
    const std::lock_guard lock(mutex_);
    loans_.insert(loan.get());
  }
  frame->buf[0] = av_buffer_create(begin, end - begin, Return, loan.get(),
                                   AV_BUFFER_FLAG_READONLY);
  if (frame->buf[0] == nullptr) {
    Return(loan.release(), begin);
    return AVERROR(ENOMEM);
  }
  loan.release();
  for (int plane = 0; plane < planes; ++plane) {
    frame->data[plane] = buffer.data[plane];
    frame->linesize[plane] = buffer.stride[plane];
  }
  frame->extended_data = frame->data;
  return 0;
}

bulkhead_result RuntimeBuffers::TakeRefusal() {
  return refusal_.exchange(BULKHEAD_OK);
}

void RuntimeBuffers::Return(void* opaque, uint8_t*) {
  const std::unique_ptr<Loan> loan(static_cast<Loan*>(opaque));
  RuntimeBuffers& owner = *loan->owner;
  {
    const std::lock_guard lock(owner.mutex_);
    owner.loans_.erase(opaque);
  }
  owner.runtime_.release_buffer(owner.runtime_.context, loan->handle);
}

void* RuntimeBuffers::HandleOf(const AVFrame& frame) const {
  if (frame.buf[0] == nullptr || frame.buf[1] != nullptr) return nullptr;
  const void* opaque = av_buffer_get_opaque(frame.buf[0]);
  const std::lock_guard lock(mutex_);
  // The frame may have a buffer of libavcodec, whose opaque pointer is no Loan.
  // Only pointers in the set are known to be Loans.
  if (loans_.count(opaque) == 0) return nullptr;
  return static_cast<const Loan*>(opaque)->handle;
}

}  // namespace bulkhead::libav_codec
