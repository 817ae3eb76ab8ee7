// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/buffer_provider.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "backends/sdk/bulkhead_backend.hpp"

extern "C" {
#include <libavutil/common.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

namespace bulkhead::worker::decode {
namespace {

constexpr uint32_t kMostAlignment = 4096;
constexpr uint32_t kMostPadding = 1 << 20;

// The bytes of a plane, relative to the start of its first row.
struct Extent {
  int64_t first = 0;
  int64_t end = 0;
};

// Returns an empty extent for an unknown format, which FrameCheck reports.
Extent ExtentOf(const bulkhead_frame& frame, int plane) {
  const AVPixelFormat format = frame.pixel_format != nullptr
                                   ? av_get_pix_fmt(frame.pixel_format)
                                   : AV_PIX_FMT_NONE;
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
  if (descriptor == nullptr || frame.width <= 0 || frame.height <= 0) return {};
  if ((descriptor->flags & AV_PIX_FMT_FLAG_PAL) != 0 && plane == 1) {
    return {0, AVPALETTE_SIZE};
  }
  const int row = av_image_get_linesize(format, frame.width, plane);
  if (row <= 0) return {};
  const bool chroma = plane == 1 || plane == 2;
  const int64_t rows =
      chroma ? AV_CEIL_RSHIFT(frame.height, descriptor->log2_chroma_h)
             : frame.height;
  const int64_t last = (rows - 1) * frame.stride[plane];
  return {std::min<int64_t>(last, 0), std::max<int64_t>(last, 0) + row};
}

}  // namespace

struct BufferProvider::Buffer {
  ~Buffer() { std::free(memory); }

  BufferShape shape;
  uint64_t renewals = 0;  // renewals_ when the buffer was acquired
  int references = 0;
  uint8_t* memory = nullptr;  // null for a slot
  size_t total_bytes = 0;
  std::shared_ptr<SlotPool> pool;
  Slot slot{};
  bulkhead_buffer view{};
};

BufferProvider::BufferProvider(size_t most_bytes,
                               std::function<void(std::string_view)> log,
                               uint32_t abi_version)
    : most_bytes_(most_bytes), log_(std::move(log)) {
  runtime_ = {sizeof(runtime_), abi_version, this, &Acquire,
              &Reference,       &Release,    &Log};
}

BufferProvider::~BufferProvider() = default;

void BufferProvider::DeliverInto(std::shared_ptr<SlotPool> pool,
                                 AVPixelFormat format,
                                 const ipc::FrameGeometry& geometry) {
  std::lock_guard lock(mutex_);
  slots_ = std::move(pool);
  slot_format_ = format;
  slot_geometry_ = geometry;
}

void BufferProvider::Renew() {
  std::lock_guard lock(mutex_);
  ++renewals_;
}

std::optional<Slot> BufferProvider::PublishableSlot(const SlotPool& pool,
                                                    const void* handle) {
  std::lock_guard lock(mutex_);
  const Buffer* buffer = Find(handle);
  if (buffer == nullptr || buffer->pool.get() != &pool) return std::nullopt;
  return pool.Publishable(buffer->slot.index);
}

bool BufferProvider::Holds(const bulkhead_frame& frame) {
  std::lock_guard lock(mutex_);
  const Buffer* buffer = Find(frame.buffer);
  if (buffer == nullptr) return false;
  const bool in_slot = buffer->pool != nullptr;
  const uint8_t* begin = in_slot ? buffer->slot.data : buffer->memory;
  const size_t bytes = in_slot ? buffer->slot.bytes : buffer->total_bytes;
  const int planes = static_cast<int>(
      std::min<uint32_t>(frame.plane_count, BULKHEAD_MAX_PLANES));
  for (int plane = 0; plane < planes; ++plane) {
    const uint8_t* data = frame.data[plane];
    // `data` may point anywhere, so < would be undefined behaviour.
    if (!std::less_equal<>()(begin, data) ||
        !std::less<>()(data, begin + bytes)) {
      return false;
    }
    const Extent extent = ExtentOf(frame, plane);
    const int64_t at = data - begin;
    if (at + extent.first < 0 ||
        at + extent.end > static_cast<int64_t>(bytes)) {
      return false;
    }
  }
  return true;
}

size_t BufferProvider::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

BufferProvider::Buffer* BufferProvider::Find(const void* handle) {
  for (const auto& buffer : busy_) {
    if (buffer.get() == handle) return buffer.get();
  }
  return nullptr;
}

std::unique_ptr<BufferProvider::Buffer> BufferProvider::SlotBuffer(
    const BufferShape& shape) {
  if (slots_ == nullptr || shape.format != slot_format_ ||
      !FitsSlot(shape, slot_geometry_)) {
    return nullptr;
  }
  // Pinned, because the decoder may refer to the picture in later ones, longer
  // than the host holds the slot.
  auto slot = slots_->TakePinned();
  if (!slot) return nullptr;
  if (reinterpret_cast<uintptr_t>(slot->data) % shape.alignment != 0) {
    slots_->Release(slot->index);
    return nullptr;
  }
  auto buffer = std::make_unique<Buffer>();
  buffer->pool = slots_;
  buffer->slot = *slot;
  buffer->view.plane_count = slot_geometry_.plane_count;
  for (uint32_t i = 0; i < slot_geometry_.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = slot_geometry_.planes[i];
    buffer->view.data[i] = slot->data + plane.offset;
    buffer->view.stride[i] = static_cast<int32_t>(plane.stride);
    buffer->view.bytes[i] = plane.bytes;
  }
  return buffer;
}

std::unique_ptr<BufferProvider::Buffer> BufferProvider::PrivateBuffer(
    const BufferShape& shape) {
  // A stream has one shape at a time, so idle buffers of another shape are
  // freed. Buffers in use are freed when they are released.
  if (shape != shape_) {
    for (const auto& idle : idle_) bytes_ -= idle->total_bytes;
    idle_.clear();
    shape_ = shape;
  }
  if (!idle_.empty()) {
    auto buffer = std::move(idle_.back());
    idle_.pop_back();
    if (buffer->renewals != renewals_) {
      std::memset(buffer->memory, 0, buffer->total_bytes);
    }
    return buffer;
  }
  const auto layout = LayOut(shape);
  if (!layout || layout->planes == 0 || layout->bytes > most_bytes_ ||
      bytes_ > most_bytes_ - layout->bytes) {
    return nullptr;
  }
  auto buffer = std::make_unique<Buffer>();
  buffer->memory = static_cast<uint8_t*>(
      std::aligned_alloc(layout->alignment, layout->bytes));
  if (buffer->memory == nullptr) return nullptr;
  std::memset(buffer->memory, 0, layout->bytes);
  buffer->view.plane_count = layout->planes;
  for (uint32_t plane = 0; plane < layout->planes; ++plane) {
    buffer->view.data[plane] = buffer->memory + layout->offsets[plane];
    buffer->view.stride[plane] = layout->strides[plane];
    buffer->view.bytes[plane] = layout->sizes[plane];
  }
  buffer->total_bytes = layout->bytes;
  bytes_ += layout->bytes;
  return buffer;
}

bulkhead_result BufferProvider::AcquireBuffer(const BufferShape& shape,
                                              bulkhead_buffer* out) {
  std::lock_guard lock(mutex_);
  auto buffer = SlotBuffer(shape);
  if (buffer == nullptr) buffer = PrivateBuffer(shape);
  if (buffer == nullptr) return BULKHEAD_OUT_OF_MEMORY;
  buffer->shape = shape;
  buffer->renewals = renewals_;
  buffer->references = 1;
  buffer->view.size = sizeof(buffer->view);
  buffer->view.handle = buffer.get();
  *out = buffer->view;
  busy_.push_back(std::move(buffer));
  return BULKHEAD_OK;
}

bulkhead_result BufferProvider::Acquire(void* self,
                                        const bulkhead_buffer_request* request,
                                        bulkhead_buffer* buffer) {
  const auto asked = sdk::TakeSized(*request);
  const AVPixelFormat format = asked.pixel_format != nullptr
                                   ? av_get_pix_fmt(asked.pixel_format)
                                   : AV_PIX_FMT_NONE;
  const AVPixFmtDescriptor* descriptor = av_pix_fmt_desc_get(format);
  if (descriptor == nullptr ||
      (descriptor->flags & AV_PIX_FMT_FLAG_HWACCEL) != 0) {
    return BULKHEAD_UNSUPPORTED;
  }
  const uint32_t alignment = std::max(asked.alignment, 1u);
  if (asked.width <= 0 || asked.height <= 0 ||
      !std::has_single_bit(alignment) || alignment > kMostAlignment ||
      asked.padding > kMostPadding) {
    return BULKHEAD_FAILED;
  }
  return static_cast<BufferProvider*>(self)->AcquireBuffer(
      {format, asked.width, asked.height, alignment, asked.padding}, buffer);
}

void BufferProvider::Reference(void* self, void* handle) {
  auto* provider = static_cast<BufferProvider*>(self);
  std::lock_guard lock(provider->mutex_);
  Buffer* buffer = provider->Find(handle);
  if (buffer != nullptr) ++buffer->references;
}

void BufferProvider::Release(void* self, void* handle) {
  auto* provider = static_cast<BufferProvider*>(self);
  std::lock_guard lock(provider->mutex_);
  auto& busy = provider->busy_;
  const auto found =
      std::find_if(busy.begin(), busy.end(),
                   [handle](const auto& it) { return it.get() == handle; });
  // An unknown handle is a vendor's mistake, and is ignored.
  if (found == busy.end() || --(*found)->references > 0) return;
  std::unique_ptr<Buffer> buffer = std::move(*found);
  *found = std::move(busy.back());
  busy.pop_back();
  if (buffer->pool != nullptr) {
    buffer->pool->Release(buffer->slot.index);
  } else if (buffer->shape == provider->shape_) {
    // Buffers acquired since the last Renew() are reused first, as in a pool
    // that was new at that point. Older buffers go to the bottom of the stack.
    auto& idle = provider->idle_;
    const bool renewed = buffer->renewals == provider->renewals_;
    idle.insert(renewed ? idle.end() : idle.begin(), std::move(buffer));
  } else {
    provider->bytes_ -= buffer->total_bytes;
  }
}

void BufferProvider::Log(void* self, const char* line) {
  auto* provider = static_cast<BufferProvider*>(self);
  if (provider->log_ && line != nullptr) provider->log_(line);
}

}  // namespace bulkhead::worker::decode
