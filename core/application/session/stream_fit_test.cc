// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/stream_fit.h"

#include <gtest/gtest.h>

namespace bulkhead::session {
namespace {

StreamMetadata Video(const std::string& codec, const std::string& profile,
                     uint32_t width, uint32_t height) {
  StreamMetadata stream;
  stream.kind = StreamKind::kVideo;
  stream.codec = codec;
  stream.profile = profile;
  stream.width = width;
  stream.height = height;
  return stream;
}

DeviceCapabilities Device() {
  return {.streams = {{.kind = "video",
                       .codecs = {"h264"},
                       .profiles = {"Main", "High"},
                       .max_width = 1920,
                       .max_height = 1088},
                      {.kind = "audio", .codecs = {"aac"}}}};
}

TEST(StreamFitTest, WhatADeviceLeavesOutIsRuledOut) {
  EXPECT_FALSE(RulesOut(Device(), Video("h264", "High", 1920, 1080)));
  EXPECT_TRUE(RulesOut(Device(), Video("hevc", "Main", 640, 480)));
  EXPECT_TRUE(RulesOut(Device(), Video("h264", "High 10", 640, 480)));
  EXPECT_TRUE(RulesOut(Device(), Video("h264", "High", 3840, 2160)));
  EXPECT_TRUE(RulesOut(Device(), Video("aac", "", 0, 0)));
}

TEST(StreamFitTest, WhatIsUnknownRulesNothingOut) {
  EXPECT_FALSE(RulesOut({}, Video("hevc", "Main", 8192, 8192)));
  EXPECT_FALSE(RulesOut(Device(), Video("h264", "", 0, 0)));
  EXPECT_FALSE(RulesOut(Device(), Video("", "", 0, 0)));
}

TEST(StreamFitTest, SizesAreThoseBeforeRotation) {
  StreamMetadata upright = Video("h264", "High", 1080, 1920);
  EXPECT_TRUE(RulesOut(Device(), upright));
  upright.rotation = 90;
  EXPECT_FALSE(RulesOut(Device(), upright));
}

TEST(StreamFitTest, TheStreamIsTheOneThatADecoderOpens) {
  ContainerMetadata container;
  container.streams = {Video("mjpeg", "", 300, 300), Video("h264", "", 64, 64),
                       Video("hevc", "", 64, 64)};
  for (int i = 0; i < 3; ++i) container.streams[i].index = i;
  container.streams[0].is_cover = true;
  const auto codec = [&](std::optional<int> index) {
    const auto* stream = StreamToOpen(container, StreamKind::kVideo, index,
                                      StreamChoice::kFirst);
    return stream == nullptr ? "" : stream->codec;
  };
  const auto best = [&](StreamKind kind) {
    return StreamToOpen(container, kind, {}, StreamChoice::kBest);
  };
  EXPECT_EQ(codec({}), "h264");
  EXPECT_EQ(codec(0), "mjpeg");
  EXPECT_EQ(codec(2), "hevc");
  EXPECT_EQ(codec(3), "");
  EXPECT_EQ(best(StreamKind::kVideo)->codec, "h264") << "none is told";
  container.best_video_stream = 2;
  EXPECT_EQ(best(StreamKind::kVideo)->codec, "hevc");
  EXPECT_EQ(best(StreamKind::kAudio), nullptr);
}

TEST(StreamFitTest, DevicesThatDecodeItAndThoseThatDoNotTellAreNamed) {
  std::vector<DeviceInfo> devices(3);
  devices[0].name = "npu:0";
  devices[0].capabilities = Device();
  devices[1].name = "cpu:0";
  devices[1].capabilities.streams = {
      {.kind = "video", .codecs = {"h264", "hevc"}}};
  devices[2].name = "acme";
  EXPECT_EQ(DevicesFor(Video("hevc", "Main", 64, 64), devices),
            "devices that decode it: cpu:0; devices that have not told what "
            "they decode: acme");
  EXPECT_EQ(DevicesFor(Video("hevc", "Main", 64, 64), {devices[0]}),
            "no other device says that it decodes it");
}

}  // namespace
}  // namespace bulkhead::session
