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
#include "backends/worker/media/decode/buffer_layout.h"
#include "backends/worker/media/decode/slot_pool.h"
#include "ipc/frame_geometry.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace bulkhead::worker::decode {

// Implements bulkhead_runtime, the services that a backend's decoder uses:
// memory to decode into, and a log.
//
//     BufferProvider buffers(size_t{1} << 30, log);
//     auto decoder = Decoder::Open(backend, parameters, *buffers.runtime());
//
// Buffers are private memory by default. New buffers hold zeroes, and the
// buffer released last is reused first, as in libavcodec's own pool. So the
// output equals the ffmpeg command's also where a decoder leaves parts of a
// picture unfilled. Idle buffers are freed as soon as a decoder asks for
// another shape (format, size, alignment, padding).
//
// After DeliverInto, a request gets a slot of the frame pool if the slots have
// the requested format and the planes fit. The picture in the slot then needs
// no copy. A slot is not zeroed, so streams whose pictures may have unfilled
// parts must not be decoded into slots.
//
// Thread-safe. Must outlive every decoder that was opened with its runtime;
// buffers that a vendor leaks live as long as the provider. A request that
// would exceed the memory limit gets OUT_OF_MEMORY.
class BufferProvider {
 public:
  // `most_bytes` limits the private memory. `log` may be called from any thread
  // of the backend. `abi_version` is the version in force (backend_table.h).
  explicit BufferProvider(size_t most_bytes,
                          std::function<void(std::string_view)> log = nullptr,
                          uint32_t abi_version = BULKHEAD_ABI_VERSION);

  BufferProvider(const BufferProvider&) = delete;
  BufferProvider& operator=(const BufferProvider&) = delete;
  ~BufferProvider();

  const bulkhead_runtime* runtime() const { return &runtime_; }

  // Makes private buffers hold zeroes when they are acquired next, as for a new
  // decoder. Call this before a seek, so that nothing that was decoded before
  // the seek can show in later pictures.
  void Renew();

  // Serves slots of `pool` to requests for `format` that fit into `geometry`,
  // the layout of a slot. With a null pool, serves private memory only. Buffers
  // keep the pool alive.
  void DeliverInto(std::shared_ptr<SlotPool> pool, AVPixelFormat format,
                   const ipc::FrameGeometry& geometry);
  void DeliverNowhere() { DeliverInto(nullptr, AV_PIX_FMT_NONE, {}); }

  // Returns the slot that the buffer `handle` occupies, if the slot belongs to
  // `pool` and may be published. Null handles and private buffers have no slot.
  std::optional<Slot> PublishableSlot(const SlotPool& pool, const void* handle);

  // Returns whether `frame` names a buffer that the backend holds, and all of
  // its planes lie in that buffer.
  bool Holds(const bulkhead_frame& frame);

  // Returns the size of all private memory, in use or kept for reuse.
  size_t bytes() const;

 private:
  struct Buffer;

  // The functions of bulkhead_runtime. `self` is the provider.
  static bulkhead_result Acquire(void* self,
                                 const bulkhead_buffer_request* request,
                                 bulkhead_buffer* buffer);
  static void Reference(void* self, void* handle);
  static void Release(void* self, void* handle);
  static void Log(void* self, const char* line);

  bulkhead_result AcquireBuffer(const BufferShape& shape, bulkhead_buffer* out);
  // Both return null if they have no buffer for the shape.
  std::unique_ptr<Buffer> SlotBuffer(const BufferShape& shape);
  std::unique_ptr<Buffer> PrivateBuffer(const BufferShape& shape);
  // Returns the buffer in use with this handle, or null.
  Buffer* Find(const void* handle);

  bulkhead_runtime runtime_;
  const size_t most_bytes_;
  const std::function<void(std::string_view)> log_;

  mutable std::mutex mutex_;
  size_t bytes_ = 0;       // of private memory
  BufferShape shape_;      // the shape of all buffers in idle_
  uint64_t renewals_ = 0;  // the number of calls of Renew()
  std::vector<std::unique_ptr<Buffer>> idle_;  // last in, first out
  std::vector<std::unique_ptr<Buffer>> busy_;  // referred to by decoders
  std::shared_ptr<SlotPool> slots_;
  AVPixelFormat slot_format_ = AV_PIX_FMT_NONE;
  ipc::FrameGeometry slot_geometry_{};
};

}  // namespace bulkhead::worker::decode
