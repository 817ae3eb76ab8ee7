// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {

// Opens generated clips on each of the backends that come with Bulkhead; the
// test parameter is the device. Skips the test if there is no ffmpeg to make
// the clips.
class Semantics : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (ClipOrSkip(Clip::kH264).empty()) return;
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
  }

  Host& host() { return *host_; }

  Result<VideoDecoder> TryOpen(Clip clip, VideoOptions options = {}) {
    options.device = GetParam();
    return host_->OpenVideo(Generate(clip).value(), std::move(options));
  }
  VideoDecoder Open(Clip clip, VideoOptions options = {}) {
    return TryOpen(clip, std::move(options)).value();
  }

 private:
  std::unique_ptr<Host> host_;
};

template <typename T>
Code CodeOf(const Result<T>& result) {
  return result ? Code::kOk : result.error().code();
}

}  // namespace bulkhead::tests
