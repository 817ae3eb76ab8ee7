// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "backends/libav_codec/failure.h"
#include "backends/libav_codec/libav_types.h"
#include "backends/libav_codec/picture_log.h"
#include "backends/libav_codec/runtime_buffers.h"
#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::libav_codec {

// Decodes one stream with libavcodec, with the settings of the ffmpeg program,
// so that the pictures equal ffmpeg's, also for damaged streams.
//
//     auto decoder = LibavDecoder::Open(parameters, runtime);
//     (*decoder)->Send(&packet);
//     while ((*decoder)->Receive(frame) == BULKHEAD_OK) ...
//
// Backends build on this class; each backend links its own copy. Opens no
// files. Starts no threads before Open; from then on libavcodec runs its own
// threads if more than one was asked for (0 means one for each CPU).
//
// Packets are hostile and are passed to libavcodec unchecked; the sandbox
// contains the consequences. Not thread-safe. Every failed result leaves a
// sentence in last_error.
class LibavDecoder {
 public:
  // Decodes pictures into buffers of `runtime`, which must outlive every frame.
  // With nullptr, decodes into memory of libavcodec.
  static Expected<std::unique_ptr<LibavDecoder>> Open(
      const bulkhead_open_parameters& parameters,
      const bulkhead_runtime* runtime);
  LibavDecoder(const LibavDecoder&) = delete;
  LibavDecoder& operator=(const LibavDecoder&) = delete;

  // Sends one packet. nullptr ends the stream.
  bulkhead_result Send(const bulkhead_packet* packet);
  // Does the same with a packet that ToPacket has made. May add side data to
  // the packet.
  bulkhead_result SendTranslated(AVPacket* packet);
  // Receives one frame, which is valid if the result is OK.
  bulkhead_result Receive(AVFrame* frame);
  // Fills all fields of *to except `buffer` and `private_data` (translate.h).
  // Call this once for each frame, when it was received.
  void Describe(const AVFrame& frame, bulkhead_frame* to);
  void Flush();

  // Returns the handle of the buffer that holds the frame; see
  // RuntimeBuffers::HandleOf.
  void* HandleOf(const AVFrame& frame) const;
  const std::string& last_error() const { return last_error_; }

 private:
  LibavDecoder() = default;

  // Implements AVCodecContext.get_buffer2. ReadLog recognizes contexts of this
  // class by this callback.
  static int GetBuffer(AVCodecContext* context, AVFrame* frame, int flags);
  static void ReadLog(void* object, int level, const char* format,
                      va_list arguments);
  Expected<void> SetOptions(const bulkhead_open_parameters& parameters);
  Failure FailureOf(int av_error, const char* action);
  bulkhead_result Report(int av_error, const char* action);

  std::string codec_;
  uint64_t max_frame_pixels_ = 0;
  std::shared_ptr<RuntimeBuffers> buffers_;
  // Side data of the container's stream, which is sent with the first packet.
  PacketPtr stream_side_data_;
  std::atomic<bool> picture_too_large_ = false;
  bool ended_ = false;
  bool animated_ = false;  // the packet sent last is an animated picture
  std::string last_error_;
  std::unique_ptr<PictureLog> log_;
  // The last member, so destroyed first: closing the context returns the
  // buffers and ends libavcodec's threads, which use the members above.
  CodecContextPtr context_;
};

}  // namespace bulkhead::libav_codec
