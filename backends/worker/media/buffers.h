// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/slot_pool.h"

namespace bulkhead::worker {

// The runtime that a decoder sees: memory to decode into, and a log.
//
//     BufferProvider buffers(size_t{1} << 30, log);
//     auto decoder = Decoder::Open(backend, parameters, *buffers.runtime());
//
// Buffers are private memory. They start as zeroes and the one given back last
// is used first, as in libavcodec's own pool: what a decoder shows of a picture
// that it never filled is then the same as in the ffmpeg command. Those of a
// shape that is no longer asked for are freed at once.
//
// After DeliverInto, an RGB24 buffer that fits is a slot of the frame pool
// instead, and the picture in it needs no copy.
//
// Thread-safe. Outlives every decoder that was opened with its runtime; buffers
// that a vendor leaks live as long as the provider. A request beyond the limit
// of memory is answered OUT_OF_MEMORY.
class BufferProvider {
 public:
  // `log` is called from any thread of the backend.
  explicit BufferProvider(size_t most_bytes,
                          std::function<void(std::string_view)> log = nullptr);

  BufferProvider(const BufferProvider&) = delete;
  BufferProvider& operator=(const BufferProvider&) = delete;
  ~BufferProvider();

  const bulkhead_runtime* runtime() const { return &runtime_; }

  // Buffers start as zeroes again, as for a decoder that has just begun: before
  // a seek, so that nothing of what was decoded before it can show.
  void Renew();

  // From now on serves slots of `pool`, whose rows are `stride` bytes apart,
  // where they fit. Null: private memory only. Buffers keep the pool alive.
  void DeliverInto(std::shared_ptr<SlotPool> pool, uint32_t stride);

  // The slot in which the buffer `handle` lies, if it lies in `pool` and its
  // picture may be published. Null handles and private buffers have none.
  std::optional<Slot> PublishableSlot(const SlotPool& pool, const void* handle);

  // Of private memory, in use or kept for use.
  size_t bytes() const;

 private:
  struct Shape {
    int format = -1;
    int32_t width = 0;
    int32_t height = 0;
    uint32_t alignment = 0;
    uint32_t padding = 0;
    bool operator==(const Shape&) const = default;
  };
  struct Buffer;

  static bulkhead_result Acquire(void* self,
                                 const bulkhead_buffer_request* request,
                                 bulkhead_buffer* buffer);
  static void Reference(void* self, void* handle);
  static void Release(void* self, void* handle);
  static void Log(void* self, const char* line);

  bulkhead_result AcquireBuffer(const Shape& shape, bulkhead_buffer* out);
  std::unique_ptr<Buffer> SlotBuffer(const Shape& shape);
  std::unique_ptr<Buffer> PrivateBuffer(const Shape& shape);
  Buffer* Find(const void* handle);

  bulkhead_runtime runtime_;
  const size_t most_bytes_;
  const std::function<void(std::string_view)> log_;

  mutable std::mutex mutex_;
  size_t bytes_ = 0;
  Shape shape_;  // of all in idle_
  uint64_t renewals_ = 0;
  std::vector<std::unique_ptr<Buffer>> idle_;  // last in, first out
  std::vector<std::unique_ptr<Buffer>> busy_;
  std::shared_ptr<SlotPool> slots_;
  uint32_t slot_stride_ = 0;
};

}  // namespace bulkhead::worker
