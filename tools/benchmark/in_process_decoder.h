// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli/writers/picture.h"

struct AVCodecContext;
struct AVFormatContext;
struct AVFrame;
struct AVPacket;
struct SwsContext;

namespace bulkhead::benchmark {

// What Bulkhead is measured against: the same libav libraries in the same
// process, without anything between them and the caller. One thread, the first
// video stream, each frame converted to RGB24 into one buffer that is used
// again for the next, which is as cheap as it gets.
//
// Trusts the file with this process. Never use it on one that you did not make.
class InProcessDecoder {
 public:
  static Result<std::unique_ptr<InProcessDecoder>> Open(
      const std::string& path);
  ~InProcessDecoder();
  InProcessDecoder(const InProcessDecoder&) = delete;
  InProcessDecoder& operator=(const InProcessDecoder&) = delete;

  // False at the end. Otherwise picture() is the next frame.
  Result<bool> Next();
  // Decodes from the keyframe before it up to the frame at `pts`, the only one
  // to be converted.
  Status DecodeAt(int64_t pts);

  // Valid until the next call.
  const cli::Picture& picture() const { return picture_; }

 private:
  InProcessDecoder() = default;

  Status Start(const std::string& path);
  // Without conversion.
  Result<bool> NextDecoded();
  Status Convert();

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
  int stream_ = 0;
  bool draining_ = false;
  std::vector<std::byte> memory_;
  std::byte* pixels_ = nullptr;  // In memory_, aligned.
  cli::Picture picture_;
};

}  // namespace bulkhead::benchmark
