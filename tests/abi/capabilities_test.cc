// SPDX-License-Identifier: Apache-2.0
//
// The codecs that devices say they decode can be asked for before a stream is
// opened, keeps backends from being started for other streams, and names the
// devices that a caller can use instead.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/distribution_options.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

class CapabilitiesTest : public testing::Test {
 protected:
  CapabilitiesTest() {
    HostOptions options = DistributionOptions();
    // Another vendor's backend beside the one under test.
    options.plugin_path->push_back(DistributionDirectory("BULKHEAD_TEST_PAST"));
    options.state_directory = TemporaryDirectory() + "/state";
    host_ = Host::Create(options).value();
  }

  BackendInfo Narrow() {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "narrow") return backend;
    }
    ADD_FAILURE() << "there is no backend narrow";
    return {};
  }

  DeviceCapabilities Of(const std::string& prefix) {
    const auto devices = host_->Devices().value();
    for (const DeviceInfo& device : devices) {
      if (device.name.starts_with(prefix)) return device.capabilities;
    }
    ADD_FAILURE() << "there is no device " << prefix;
    return {};
  }

  std::unique_ptr<Host> host_;
};

TEST_F(CapabilitiesTest, TheManifestTellsThemBeforeTheBackendHasRun) {
  const DeviceCapabilities listed = Of("narrow");
  EXPECT_EQ(Narrow().incarnation, 0u);
  ASSERT_EQ(listed.streams.size(), 1u);
  EXPECT_EQ(listed.streams[0],
            (StreamCapability{.kind = "video", .codecs = {"h264"}}));
}

TEST_F(CapabilitiesTest, TheBackendTellsThemOnceItHasRun) {
  ASSERT_TRUE(host_->Prewarm("narrow").ok());
  const DeviceCapabilities told = Of("narrow");
  ASSERT_EQ(told.streams.size(), 1u);
  EXPECT_EQ(told.streams[0], (StreamCapability{.kind = "video",
                                               .codecs = {"h264"},
                                               .profiles = {"Main", "High"},
                                               .formats = {"yuv420p"},
                                               .max_width = 320,
                                               .max_height = 240}));
  EXPECT_EQ(told.max_sessions, 3u);
  EXPECT_THAT(told.outputs, ElementsAre("own-memory"));
}

TEST_F(CapabilitiesTest, OurOwnBackendsTellTheirs) {
  ASSERT_TRUE(host_->Prewarm("cpu").ok());
  const DeviceCapabilities cpu = Of("cpu");
  std::vector<std::string> video;
  std::vector<std::string> audio;
  for (const StreamCapability& stream : cpu.streams) {
    auto& codecs = stream.kind == "audio" ? audio : video;
    codecs.insert(codecs.end(), stream.codecs.begin(), stream.codecs.end());
  }
  EXPECT_THAT(video, IsSupersetOf({"h264", "hevc", "vp9", "mpeg2video"}));
  EXPECT_THAT(audio, IsSupersetOf({"aac", "opus", "flac"}));
  EXPECT_THAT(cpu.outputs, ElementsAre("own-memory", "runtime-buffers"));
  ASSERT_TRUE(host_->Prewarm("openreg").ok());
  EXPECT_EQ(Of("openreg:0"), cpu);
  EXPECT_EQ(Of("openreg:1"), cpu);
}

// The description comes from another of our own backends then.
TEST_F(CapabilitiesTest, ADisabledBackendIsNotAskedWhatTheInputIs) {
  const std::string mpeg2 = ClipOrSkip(Clip::kMpeg2);
  if (mpeg2.empty()) return;
  ASSERT_TRUE(host_->Disable("cpu").ok());
  const auto video = host_->OpenVideo(mpeg2, {.device = "narrow"});
  EXPECT_TRUE(host_->Enable("cpu").ok());
  ASSERT_FALSE(video);
  EXPECT_THAT(video.error().message(),
              AllOf(HasSubstr("; devices that decode it: openreg:0, openreg:1"),
                    Not(HasSubstr("cpu"))));
  EXPECT_EQ(Narrow().incarnation, 0u);
}

// [device-3].
TEST_F(CapabilitiesTest, ABackendIsNotStartedForAStreamThatItRulesOut) {
  const std::string mpeg2 = ClipOrSkip(Clip::kMpeg2);
  if (mpeg2.empty()) return;
  const auto video = host_->OpenVideo(mpeg2, {.device = "narrow"});
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kUnsupported) << video.error();
  EXPECT_THAT(video.error().message(),
              AllOf(StartsWith(mpeg2 + ": device narrow does not decode its "
                                       "video stream, mpeg2video (Main), "),
                    HasSubstr("; devices that decode it: cpu:0")));
  EXPECT_EQ(Narrow().incarnation, 0u);
  EXPECT_EQ(Narrow().state, "discovered");
}

TEST_F(CapabilitiesTest, ABackendIsStartedForAStreamThatItDecodes) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  const auto video = host_->OpenVideo(clip, {.device = "narrow"});
  ASSERT_TRUE(video) << video.error();
  // The sizes that a device declares are those before rotation.
  const std::string turned = ClipOrSkip(Clip::kRotated);
  const auto upright = host_->OpenVideo(turned, {.device = "narrow"});
  EXPECT_TRUE(upright) << upright.error();
}

// No process of another vendor is given the input, also if one runs: there, the
// backend decides. What cannot be found out before rules nothing out.
TEST_F(CapabilitiesTest, WithoutAnotherDeviceTheBackendDecides) {
  const std::string mpeg2 = ClipOrSkip(Clip::kMpeg2);
  if (mpeg2.empty()) return;
  ASSERT_TRUE(host_->Prewarm("past").ok());
  for (const char* name : {"cpu", "openreg"}) {
    ASSERT_TRUE(host_->Disable(name).ok());
  }
  const auto video = host_->OpenVideo(mpeg2, {.device = "narrow"});
  // Each is disabled on record.
  for (const char* name : {"cpu", "openreg"}) {
    EXPECT_TRUE(host_->Enable(name).ok());
  }
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kUnsupported) << video.error();
  EXPECT_THAT(video.error().message(),
              AllOf(HasSubstr("\"only small H.264\""), Not(HasSubstr("cpu"))));
}

TEST_F(CapabilitiesTest, WhatARunningBackendRefusesNamesOtherDevicesToo) {
  const std::string mpeg2 = ClipOrSkip(Clip::kMpeg2);
  if (mpeg2.empty()) return;
  ASSERT_TRUE(host_->Prewarm("narrow").ok());
  ASSERT_TRUE(host_->Prewarm("cpu").ok());
  const auto video = host_->OpenVideo(mpeg2, {.device = "narrow:0"});
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kUnsupported) << video.error();
  EXPECT_THAT(video.error().message(),
              AllOf(HasSubstr("\"only small H.264\"; the stream is mpeg2video"),
                    HasSubstr("; devices that decode it: cpu:0")));
}

// An option that the backend does not know says nothing of the stream.
TEST_F(CapabilitiesTest, OtherDevicesAreNamedOnlyIfTheStreamIsTheCause) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  const auto video = host_->OpenVideo(
      clip, {.device = "narrow", .backend_options = {{"no-such-option", "1"}}});
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kUnsupported) << video.error();
  EXPECT_THAT(video.error().message(),
              AllOf(HasSubstr("no-such-option"), Not(HasSubstr("devices"))));
}

TEST_F(CapabilitiesTest, TheCommandShowsThem) {
  const auto run = [](const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {
        PathFromEnvironment("BULKHEAD_TEST_CLI"), "--plugin-path",
        DistributionDirectory()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RunProgram(
        command,
        {.environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()}}});
  };
  EXPECT_THAT(run({"backends"}).output,
              HasSubstr("\n  decodes       video h264\n"));
  EXPECT_THAT(run({"backends", "--json"}).output,
              AllOf(HasSubstr("\"capabilities\": {"),
                    HasSubstr("\"max_sessions\": 0")));
}

}  // namespace
}  // namespace bulkhead::tests
