// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/device_decoder.h"

#include <gtest/gtest.h>

#include "backends/testing/clip.h"
#include "backends/testing/fake_runtime.h"

namespace bulkhead::openreg {
namespace {

using fake::Clip;
using fake::FakeRuntime;

class DeviceDecoderTest : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = Clip::Make(
        "clip.mkv", {"-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25",
                     "-frames:v", "3", "-c:v", "ffv1", "-pix_fmt", "yuv420p"});
    if (!clip_) GTEST_SKIP() << "ffmpeg cannot make an FFV1 clip";
  }

  libav_codec::Expected<std::unique_ptr<DeviceDecoder>> Open(
      size_t device_bytes) {
    return DeviceDecoder::Open(OpenParameters(*clip_, {}), *runtime_.services(),
                               device_bytes);
  }

  std::unique_ptr<Clip> clip_;
  FakeRuntime runtime_;
  bulkhead_frame frame_ = {.size = sizeof(frame_)};
};

TEST_F(DeviceDecoderTest, APictureBeyondTheDevicesMemoryIsOutOfMemory) {
  const auto decoder = Open(320 * 240);
  ASSERT_TRUE(decoder);
  ASSERT_EQ((*decoder)->Send(&clip_->packets()[0]), BULKHEAD_OK);
  EXPECT_EQ((*decoder)->Receive(&frame_), BULKHEAD_OUT_OF_MEMORY);
  EXPECT_NE((*decoder)->last_error().find("does not fit"), std::string::npos);
  EXPECT_EQ(runtime_.acquired(), 0u);
}

TEST_F(DeviceDecoderTest, OnePictureOfDeviceMemoryIsEnough) {
  const auto decoder = Open(200 * 1024);
  ASSERT_TRUE(decoder);
  for (const bulkhead_packet& packet : clip_->packets()) {
    ASSERT_EQ((*decoder)->Send(&packet), BULKHEAD_OK);
    ASSERT_EQ((*decoder)->Receive(&frame_), BULKHEAD_OK)
        << (*decoder)->last_error();
    EXPECT_NE(frame_.buffer, nullptr);
    (*decoder)->Release(frame_);
  }
  EXPECT_EQ(runtime_.outstanding(), 0u);
}

TEST_F(DeviceDecoderTest, ARefusedBufferIsReportedAsTheRuntimeSaid) {
  const auto decoder = Open(1 << 20);
  ASSERT_TRUE(decoder);
  runtime_.RefuseBuffers(BULKHEAD_OUT_OF_MEMORY);
  ASSERT_EQ((*decoder)->Send(&clip_->packets()[0]), BULKHEAD_OK);
  EXPECT_EQ((*decoder)->Receive(&frame_), BULKHEAD_OUT_OF_MEMORY);
}

}  // namespace
}  // namespace bulkhead::openreg
