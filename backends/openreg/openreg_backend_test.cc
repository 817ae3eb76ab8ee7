// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/openreg_backend.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/testing/clip.h"
#include "backends/testing/fake_runtime.h"

namespace bulkhead::openreg {
namespace {

using fake::Clip;
using fake::CopyPicture;
using fake::Decode;
using fake::Decoded;
using fake::FakeRuntime;

TEST(OpenregBackendTest, HasTwoDevicesOfOneName) {
  const FakeRuntime runtime;
  std::vector<std::string> names;
  bulkhead_openreg_backend()->enumerate_devices(
      runtime.services(),
      [](void* context, const bulkhead_device* device) {
        static_cast<std::vector<std::string>*>(context)->push_back(
            device->name);
      },
      &names);
  EXPECT_EQ(names, (std::vector<std::string>{"openreg", "openreg"}));
}

// Calls the functions of the C table directly, under sanitizers too, and in
// orders that no stream of a worker has.
class DirectCalls : public testing::TestWithParam<const bulkhead_backend*> {
 protected:
  static void SetUpTestSuite() {
    clip_ = Clip::Make("direct.mp4",
                       {"-f", "lavfi", "-i", "testsrc2=size=322x182:rate=25",
                        "-frames:v", "20", "-c:v", "libx264", "-pix_fmt",
                        "yuv420p", "-bf", "2", "-g", "15"})
                .release();
  }
  static void TearDownTestSuite() { delete std::exchange(clip_, nullptr); }

  void SetUp() override {
    if (clip_ == nullptr) GTEST_SKIP() << "ffmpeg cannot make an H.264 clip";
    const bulkhead_open_parameters parameters = OpenParameters(*clip_, {});
    ASSERT_EQ(backend().open(&parameters, runtime_.services(), &decoder_),
              BULKHEAD_OK);
  }
  void TearDown() override {
    if (decoder_ != nullptr) backend().close(decoder_);
    EXPECT_EQ(runtime_.outstanding(), 0u) << "buffers outlived the decoder";
  }

  static const bulkhead_backend& backend() { return *GetParam(); }

  // Sends packets until a frame comes.
  bulkhead_frame FirstFrame() {
    bulkhead_frame frame = {.size = sizeof(frame)};
    for (const bulkhead_packet& packet : clip_->packets()) {
      EXPECT_EQ(backend().send_packet(decoder_, &packet), BULKHEAD_OK);
      const bulkhead_result result = backend().receive_frame(decoder_, &frame);
      if (result == BULKHEAD_OK) return frame;
      EXPECT_EQ(result, BULKHEAD_AGAIN);
    }
    ADD_FAILURE() << "no frame came";
    return frame;
  }

  std::vector<fake::Picture> DecodeToTheEnd() {
    Decoded decoded;
    DecodeAll(backend(), decoder_, clip_->packets(), &decoded);
    EXPECT_EQ(decoded.failure, BULKHEAD_OK) << decoded.error;
    return std::move(decoded.pictures);
  }

  static Clip* clip_;
  FakeRuntime runtime_;
  bulkhead_decoder* decoder_ = nullptr;
};

Clip* DirectCalls::clip_ = nullptr;

TEST_P(DirectCalls, AFlushAfterTheEndAndInMidStreamBeginsAnew) {
  const std::vector<fake::Picture> whole = DecodeToTheEnd();
  ASSERT_EQ(whole.size(), 20u);
  backend().flush(decoder_);
  bulkhead_frame first = FirstFrame();
  backend().release_frame(decoder_, &first);
  backend().flush(decoder_);
  EXPECT_EQ(DecodeToTheEnd(), whole);
}

TEST_P(DirectCalls, SoundIsWholeAfterAFlush) {
  const auto sound = Clip::Make(
      "direct.m4a",
      {"-f", "lavfi", "-i", "sine=frequency=440:duration=1", "-c:a", "aac"},
      BULKHEAD_STREAM_AUDIO);
  if (!sound) GTEST_SKIP() << "ffmpeg cannot make a file of AAC";
  backend().close(std::exchange(decoder_, nullptr));
  const bulkhead_open_parameters parameters = OpenParameters(*sound, {});
  ASSERT_EQ(backend().open(&parameters, runtime_.services(), &decoder_),
            BULKHEAD_OK);
  Decoded first;
  DecodeAll(backend(), decoder_, sound->packets(), &first);
  EXPECT_GT(first.pictures.size(), 40u);
  backend().flush(decoder_);
  Decoded second;
  DecodeAll(backend(), decoder_, sound->packets(), &second);
  EXPECT_EQ(second.failure, BULKHEAD_OK) << second.error;
  EXPECT_EQ(second.pictures.size(), first.pictures.size());
}

TEST_P(DirectCalls, AFrameStaysWhileTheDecoderGoesOn) {
  bulkhead_frame first = FirstFrame();
  const fake::Picture before = CopyPicture(first);
  for (const bulkhead_packet& packet : clip_->packets()) {
    while (backend().send_packet(decoder_, &packet) == BULKHEAD_AGAIN) {
      bulkhead_frame other = {.size = sizeof(other)};
      ASSERT_EQ(backend().receive_frame(decoder_, &other), BULKHEAD_OK);
      backend().release_frame(decoder_, &other);
    }
  }
  EXPECT_EQ(CopyPicture(first), before);
  backend().release_frame(decoder_, &first);
}

TEST_P(DirectCalls, ClosedInMidStreamItKeepsNothing) {
  bulkhead_frame first = FirstFrame();
  backend().release_frame(decoder_, &first);
}

TEST_P(DirectCalls, ADeviceOrACodecThatDoesNotExistIsUnsupported) {
  bulkhead_open_parameters parameters = OpenParameters(*clip_, {});
  parameters.device = 2;
  bulkhead_decoder* none = nullptr;
  EXPECT_EQ(backend().open(&parameters, runtime_.services(), &none),
            BULKHEAD_UNSUPPORTED);
  EXPECT_STRNE(backend().last_error(nullptr), "");
  const bulkhead_codec_parameters codec = {.size = sizeof(codec),
                                           .codec = "no-such-codec"};
  parameters = {.size = sizeof(parameters), .codec = &codec};
  EXPECT_EQ(backend().open(&parameters, runtime_.services(), &none),
            BULKHEAD_UNSUPPORTED);
  EXPECT_NE(std::string(backend().last_error(nullptr)).find("no-such-codec"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Backends, DirectCalls,
                         testing::Values(bulkhead_cpu_backend(),
                                         bulkhead_openreg_backend()),
                         [](const auto& info) {
                           return std::string(info.param->name);
                         });

struct Source {
  const char* file;
  const char* codec;
  const char* pixel_format;
};

class SameAsCpuTest : public testing::TestWithParam<Source> {};

TEST_P(SameAsCpuTest, OnBothDevices) {
  const Source& source = GetParam();
  const auto clip = Clip::Make(
      source.file,
      {"-f", "lavfi", "-i", "testsrc2=size=322x182:rate=25", "-frames:v", "20",
       "-c:v", source.codec, "-pix_fmt", source.pixel_format});
  if (!clip) GTEST_SKIP() << "ffmpeg cannot encode " << source.codec;
  const FakeRuntime runtime;
  const Decoded cpu =
      Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip);
  ASSERT_EQ(cpu.pictures.size(), 20u) << cpu.error;
  for (const uint32_t device : {0u, 1u}) {
    const Decoded openreg =
        Decode(*bulkhead_openreg_backend(), *runtime.services(), *clip,
               {.device = device, .options = {}});
    EXPECT_EQ(openreg.failure, BULKHEAD_OK) << openreg.error;
    EXPECT_EQ(cpu.pictures, openreg.pictures);
  }
  EXPECT_EQ(runtime.outstanding(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, SameAsCpuTest,
    testing::Values(Source{"yuv420p.mkv", "libx264", "yuv420p"},
                    Source{"yuv422p10le.mkv", "ffv1", "yuv422p10le"},
                    Source{"rgb24.mov", "qtrle", "rgb24"},
                    Source{"pal8.nut", "png", "pal8"},
                    Source{"gray.mkv", "ffv1", "gray"}),
    [](const auto& info) { return std::string(info.param.pixel_format); });

}  // namespace
}  // namespace bulkhead::openreg
