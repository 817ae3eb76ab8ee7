// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "backends/libav_codec/libav_types.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// Lets libavcodec decode into the runtime's memory.
//
// libavcodec asks for a buffer a picture and counts references on it: the
// picture that was output and the decoder, which predicts from it, each hold
// one. Each buffer here is one that the runtime lent, and goes back to it when
// libavcodec drops the last reference, on whatever thread that is.
//
// The buffers are marked read-only: some decoders draw the next picture into
// the last one once they believe to be its only owner, and they cannot know
// that an application is still reading it. Such a decoder now copies first.
//
// Pictures that the runtime cannot hold (hardware surfaces, palettes, bits)
// and decoders that insist on memory of their own use libavcodec's.
//
// Thread-safe. Lives until the last buffer is back.
class RuntimeBuffers : public std::enable_shared_from_this<RuntimeBuffers> {
 public:
  static std::shared_ptr<RuntimeBuffers> Create(
      const bulkhead_runtime& runtime);

  // What AVCodecContext.get_buffer2 does.
  int Allocate(AVCodecContext* context, AVFrame* frame, int flags);

  // What acquire_buffer answered if it refused since the last call of this, OK
  // otherwise. Decoders take a refusal for damage and go on without the
  // picture; only who asks here learns that nothing was wrong with the input.
  bulkhead_result TakeRefusal();

  // The runtime's handle of the buffer that holds all planes of the frame, or
  // nullptr if they lie elsewhere.
  void* HandleOf(const AVFrame& frame) const;

 private:
  struct Loan {
    std::shared_ptr<RuntimeBuffers> owner;
    void* handle;
  };

  explicit RuntimeBuffers(const bulkhead_runtime& runtime);
  int Lend(const bulkhead_buffer& buffer, int planes, AVFrame* frame);
  static void Return(void* loan, uint8_t* data);

  const bulkhead_runtime runtime_;
  std::atomic<bulkhead_result> refusal_ = BULKHEAD_OK;
  mutable std::mutex mutex_;
  std::unordered_set<const void*> loans_;
};

}  // namespace bulkhead::libav_codec
