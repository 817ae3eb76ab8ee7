// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "backends/libav_codec/libav_types.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// Makes libavcodec decode into the runtime's memory.
//
// libavcodec asks for one buffer per picture, and counts the references to the
// buffer. The output picture holds a reference. The decoder holds another one
// as long as it predicts later pictures from the buffer. The runtime lends each
// buffer, and gets it back when libavcodec drops the last reference, on any
// thread.
//
// The buffers are marked read-only. Otherwise some decoders would draw the next
// picture into the previous one as soon as they hold the only reference,
// although an application may still be reading that picture. With the mark,
// such a decoder copies the picture first.
//
// libavcodec's own memory is used for pictures that the runtime cannot hold
// (hardware surfaces, palettes, bitstream formats), and for decoders that do
// not support foreign buffers.
//
// Thread-safe. Every lent buffer keeps this object alive.
class RuntimeBuffers : public std::enable_shared_from_this<RuntimeBuffers> {
 public:
  static std::shared_ptr<RuntimeBuffers> Create(
      const bulkhead_runtime& runtime);

  // Implements AVCodecContext.get_buffer2.
  int Allocate(AVCodecContext* context, AVFrame* frame, int flags);

  // Returns and forgets the last failure of acquire_buffer; OK if there was
  // none. Decoders treat a failed allocation as damage and continue without the
  // picture, so only this function shows that the input was not at fault.
  bulkhead_result TakeRefusal();

  // Returns the runtime's handle of the buffer that holds all planes of the
  // frame, or nullptr if they lie in other memory.
  void* HandleOf(const AVFrame& frame) const;

 private:
  // One lent buffer.
  struct Loan {
    std::shared_ptr<RuntimeBuffers> owner;
    void* handle;
  };

  explicit RuntimeBuffers(const bulkhead_runtime& runtime);
  // Makes `frame` own the buffer, with its first `planes` planes. Returns 0 or
  // an error number of libav.
  int Lend(const bulkhead_buffer& buffer, int planes, AVFrame* frame);
  // Gives a buffer back to the runtime. libavutil calls this.
  static void Return(void* loan, uint8_t* data);

  const bulkhead_runtime runtime_;
  std::atomic<bulkhead_result> refusal_ = BULKHEAD_OK;
  mutable std::mutex mutex_;
  std::unordered_set<const void*> loans_;  // the addresses of all Loans
};

}  // namespace bulkhead::libav_codec
