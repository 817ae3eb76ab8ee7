// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/frame.h>
#include <bulkhead/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/application/writers/picture.h"

struct AVCodecContext;
struct AVFormatContext;
struct AVFrame;
struct AVPacket;
struct SwsContext;

namespace bulkhead::benchmark {

// The baseline for Bulkhead: the same libav libraries, called directly in this
// process. Decodes the video stream that libav calls the best, with the least
// work possible. Either converts each frame to RGB24, in one buffer that the
// next frame reuses, or leaves the decoder's planes as they are.
//
// Gives a malicious file full access to this process. Use it only on files that
// you made yourself.
class InProcessDecoder {
 public:
  // `threads` is the number of threads of the decoder. Native pictures must
  // have planes of 8 bits.
  static Result<std::unique_ptr<InProcessDecoder>> Open(
      const std::string& path, int threads = 1,
      OutputFormat format = OutputFormat::kRgb);
  ~InProcessDecoder();
  InProcessDecoder(const InProcessDecoder&) = delete;
  InProcessDecoder& operator=(const InProcessDecoder&) = delete;

  // Decodes the next frame into picture(). Returns false at the end.
  Result<bool> Next();
  // Reads every packet without decoding, as for an index, and seeks back to the
  // beginning. Returns the number of packets of the stream.
  Result<uint64_t> ReadAllPackets();
  // Seeks to the keyframe before `pts` and decodes up to the frame at `pts`.
  // Only that frame is converted.
  Status DecodeAt(int64_t pts);

  // The last decoded picture, valid until the next call.
  const writers::Picture& picture() const { return picture_; }

 private:
  InProcessDecoder() = default;

  Status Start(const std::string& path, int threads);
  // Decodes the next frame without converting it.
  Result<bool> NextDecoded();
  // Makes the decoded frame available as picture(): converted to RGB24 by
  // Convert(), or with the decoder's own planes by ShowPlanes().
  Status Deliver();
  Status Convert();
  Status ShowPlanes();

  struct Free {
    void operator()(AVCodecContext* context) const;
    void operator()(AVFormatContext* context) const;
    void operator()(AVFrame* frame) const;
    void operator()(AVPacket* packet) const;
    void operator()(SwsContext* context) const;
  };
  std::unique_ptr<AVFormatContext, Free> format_;
  std::unique_ptr<AVCodecContext, Free> codec_;
  std::unique_ptr<AVPacket, Free> packet_;
  std::unique_ptr<AVFrame, Free> frame_;
  std::unique_ptr<SwsContext, Free> scaler_;
  OutputFormat output_ = OutputFormat::kRgb;
  int stream_ = 0;
  bool draining_ = false;
  std::vector<std::byte> memory_;
  std::byte* pixels_ = nullptr;  // The first aligned byte of memory_.
  writers::Picture picture_;
};

}  // namespace bulkhead::benchmark
