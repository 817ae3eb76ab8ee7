// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "backends/libav_codec/failure.h"
#include "backends/libav_codec/libav_types.h"
#include "backends/libav_codec/runtime_buffers.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// One stream in libavcodec, set up as the ffmpeg program sets it up, so that
// the pictures are the same, damaged streams included.
//
//     auto decoder = LibavDecoder::Open(parameters, runtime);
//     (*decoder)->Send(&packet);
//     while ((*decoder)->Receive(frame) == BULKHEAD_OK) ...
//
// Backends build on this; each links its own copy. It opens no file and starts
// no thread before Open, after which libavcodec's own threads run if more than
// one was asked for (0: as many as there are CPUs).
//
// Packets are hostile and go to libavcodec as they are: what it makes of them
// is why this runs in a sandbox. Not thread-safe. Every result that is a
// failure leaves a sentence in last_error.
class LibavDecoder {
 public:
  // `runtime` is where pictures are decoded into; nullptr: memory of
  // libavcodec. It must outlive every frame.
  static Expected<std::unique_ptr<LibavDecoder>> Open(
      const bulkhead_open_parameters& parameters,
      const bulkhead_runtime* runtime);
  LibavDecoder(const LibavDecoder&) = delete;
  LibavDecoder& operator=(const LibavDecoder&) = delete;

  // nullptr ends the stream.
  bulkhead_result Send(const bulkhead_packet* packet);
  // The same for what ToPacket made, which may gain side data here.
  bulkhead_result SendTranslated(AVPacket* packet);
  // The frame is valid if the result is OK.
  bulkhead_result Receive(AVFrame* frame);
  void Flush();

  // See RuntimeBuffers::HandleOf.
  void* HandleOf(const AVFrame& frame) const;
  const std::string& last_error() const { return last_error_; }

 private:
  LibavDecoder() = default;

  // Also the mark by which a context is known to be ours.
  static int GetBuffer(AVCodecContext* context, AVFrame* frame, int flags);
  static void ReadLog(void* object, int level, const char* format,
                      va_list arguments);
  Expected<void> SetOptions(const bulkhead_open_parameters& parameters);
  Failure Describe(int av_error, const char* action);
  bulkhead_result Report(int av_error, const char* action);

  std::string codec_;
  uint64_t max_frame_pixels_ = 0;
  std::shared_ptr<RuntimeBuffers> buffers_;
  // What the container says beside the stream; goes out with the first packet.
  PacketPtr stream_side_data_;
  std::atomic<bool> picture_too_large_ = false;
  bool ended_ = false;
  std::string last_error_;
  // Last: closing it returns the buffers and ends libavcodec's threads.
  CodecContextPtr context_;
};

}  // namespace bulkhead::libav_codec
