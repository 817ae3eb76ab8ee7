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
// files. Starts no threads before Open. After Open, libavcodec runs its own
// threads if bulkhead_open_parameters.threads is not 1 (0 means one for each
// CPU).
//
// Packets are hostile and are passed to libavcodec unchecked; the sandbox
// contains the consequences. Not thread-safe. Every failed result leaves a
// sentence in last_error.
class LibavDecoder {
 public:
  // Opens a decoder. It decodes pictures into buffers of `runtime`, which must
  // outlive every frame. If `runtime` is null, it decodes into memory of
  // libavcodec.
  static Expected<std::unique_ptr<LibavDecoder>> Open(
      const bulkhead_open_parameters& parameters,
      const bulkhead_runtime* runtime);
  LibavDecoder(const LibavDecoder&) = delete;
  LibavDecoder& operator=(const LibavDecoder&) = delete;

  // Sends one packet. nullptr ends the stream.
  bulkhead_result Send(const bulkhead_packet* packet);
  // Sends a packet that ToPacket (translate.h) has made; nullptr ends the
  // stream. May add the stream's side data to the packet.
  bulkhead_result SendTranslated(AVPacket* packet);
  // Receives one frame, which is valid if the result is OK.
  bulkhead_result Receive(AVFrame* frame);
  // Fills all fields of *to except `buffer` and `private_data` (translate.h).
  // Call this once for each frame, before the next Receive().
  void Describe(const AVFrame& frame, bulkhead_frame* to);
  void Flush();

  // Returns the handle of the runtime's buffer that holds the frame, or nullptr
  // (RuntimeBuffers::HandleOf).
  void* HandleOf(const AVFrame& frame) const;
  const std::string& last_error() const { return last_error_; }

 private:
  LibavDecoder() = default;

  // Implements AVCodecContext.get_buffer2. ReadLog recognizes contexts of this
  // class by this callback.
  static int GetBuffer(AVCodecContext* context, AVFrame* frame, int flags);
  // Implements libav's log callback, which gets the lines of all contexts in
  // this process.
  static void ReadLog(void* object, int level, const char* format,
                      va_list arguments);
  // Returns the failure for an error number of libavcodec.
  Failure FailureOf(int av_error, const char* action);
  // Returns the result for an error number, and sets last_error_.
  bulkhead_result Report(int av_error, const char* action);

  std::string codec_;
  uint64_t max_frame_pixels_ = 0;
  std::shared_ptr<RuntimeBuffers> buffers_;  // null: libavcodec's memory
  // The side data of the stream, which is sent with the first packet. Null
  // after that.
  PacketPtr stream_side_data_;
  // libavcodec has refused a picture that exceeds max_frame_pixels_.
  std::atomic<bool> picture_too_large_ = false;
  bool ended_ = false;     // the end of the stream was sent
  bool animated_ = false;  // the packet sent last is an animated WebP picture
  std::string last_error_;
  std::unique_ptr<PictureLog> log_;
  // The last member, so destroyed first: closing the context returns the
  // buffers and ends libavcodec's threads, which use the members above.
  CodecContextPtr context_;
};

}  // namespace bulkhead::libav_codec
