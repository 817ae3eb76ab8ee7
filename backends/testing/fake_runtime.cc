// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/fake_runtime.h"

#include <cstdlib>
#include <cstring>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <gtest/gtest.h>

namespace bulkhead::fake {
namespace {

FakeRuntime* Self(void* context) { return static_cast<FakeRuntime*>(context); }

size_t AlignUp(size_t value, size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

FakeRuntime::FakeRuntime() {
  services_ = {
      .size = sizeof(services_),
      .abi_version = BULKHEAD_ABI_VERSION,
      .context = this,
      .acquire_buffer =
          [](void* context, const bulkhead_buffer_request* request,
             bulkhead_buffer* buffer) {
            return Self(context)->Acquire(*request, buffer);
          },
      .reference_buffer =
          [](void* context, void* handle) { Self(context)->Reference(handle); },
      .release_buffer = [](void* context,
                           void* handle) { Self(context)->Release(handle); },
      .log = [](void*, const char*) {},
  };
}

FakeRuntime::~FakeRuntime() {
  for (auto& [handle, buffer] : buffers_) std::free(buffer.memory);
}

void FakeRuntime::RefuseBuffers(bulkhead_result answer) {
  const std::lock_guard lock(mutex_);
  answer_ = answer;
}

size_t FakeRuntime::outstanding() const {
  const std::lock_guard lock(mutex_);
  return buffers_.size();
}

uint64_t FakeRuntime::acquired() const {
  const std::lock_guard lock(mutex_);
  return acquired_;
}

bulkhead_buffer_request FakeRuntime::last_request() const {
  const std::lock_guard lock(mutex_);
  return last_request_;
}

bulkhead_result FakeRuntime::Acquire(const bulkhead_buffer_request& request,
                                     bulkhead_buffer* buffer) {
  const std::lock_guard lock(mutex_);
  last_request_ = request;
  if (answer_ != BULKHEAD_OK) return answer_;
  const AVPixelFormat format = av_get_pix_fmt(request.pixel_format);
  int widths[4];
  if (av_image_fill_linesizes(widths, format, request.width) < 0) {
    return BULKHEAD_UNSUPPORTED;
  }
  ptrdiff_t strides[4];
  for (int plane = 0; plane < 4; ++plane) {
    strides[plane] = AlignUp(widths[plane], request.alignment);
  }
  size_t sizes[4];
  if (av_image_fill_plane_sizes(sizes, format, request.height, strides) < 0) {
    return BULKHEAD_UNSUPPORTED;
  }
  *buffer = {.size = sizeof(*buffer)};
  // One block of memory holds all planes, one after the other.
  size_t total = 0;
  size_t offsets[4] = {};
  for (int plane = 0; plane < 4 && sizes[plane] > 0; ++plane) {
    offsets[plane] = total;
    buffer->bytes[plane] = sizes[plane] + request.padding;
    buffer->stride[plane] = static_cast<int32_t>(strides[plane]);
    buffer->plane_count = plane + 1;
    total = AlignUp(total + buffer->bytes[plane], request.alignment);
  }
  auto* memory =
      static_cast<uint8_t*>(std::aligned_alloc(request.alignment, total));
  if (memory == nullptr) return BULKHEAD_OUT_OF_MEMORY;
  std::memset(memory, 0xa5, total);
  for (uint32_t plane = 0; plane < buffer->plane_count; ++plane) {
    buffer->data[plane] = memory + offsets[plane];
  }
  buffer->handle = memory;
  buffers_[memory] = {.memory = memory, .bytes = total, .references = 1};
  ++acquired_;
  return BULKHEAD_OK;
}

void FakeRuntime::Reference(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(handle);
  ASSERT_NE(found, buffers_.end()) << "reference to a buffer that is gone";
  ++found->second.references;
}

void FakeRuntime::Release(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(handle);
  ASSERT_NE(found, buffers_.end()) << "release of a buffer that is gone";
  if (--found->second.references > 0) return;
  std::memset(found->second.memory, 0x5a, found->second.bytes);
  std::free(found->second.memory);
  buffers_.erase(found);
}

}  // namespace bulkhead::fake
