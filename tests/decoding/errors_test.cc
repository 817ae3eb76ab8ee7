// SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include "tests/decoding/decoding_fixture.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

class Errors : public DecodingTest {
 protected:
  Status Opening(const std::string& path, VideoOptions options = {}) {
    if (options.device == VideoOptions().device) {
      options.device = DeviceUnderTest();
    }
    const auto video = host().OpenVideo(path, options);
    return video ? Status() : video.error();
  }

  static bool Names(const Status& status, const std::string& thing) {
    return status.message().find(thing) != std::string::npos;
  }

  static std::string Write(const std::string& name, const std::string& text) {
    const std::string path = TemporaryDirectory() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
};

TEST_F(Errors, DeviceThatDoesNotExistIsNotFound) {
  const Status status = Opening(Path(Clip::kH264), {.device = "nosuchdevice"});
  EXPECT_EQ(status.code(), Code::kNotFound) << status;
  EXPECT_TRUE(Names(status, "nosuchdevice")) << status;
}

TEST_F(Errors, DeviceIndexThatDoesNotExistIsNotFound) {
  const std::string device = DeviceNameUnderTest() + ":99";
  const Status status = Opening(Path(Clip::kH264), {.device = device});
  EXPECT_EQ(status.code(), Code::kNotFound) << status;
  EXPECT_TRUE(Names(status, device)) << status;
}

TEST_F(Errors, WrongDeviceNameIsRefused) {
  for (const char* device : {":", "cpu:", "cpu:x", "cpu:-1", "a b"}) {
    const Status status = Opening(Path(Clip::kH264), {.device = device});
    EXPECT_EQ(status.code(), Code::kInvalidArgument)
        << device << ": " << status;
  }
}

TEST_F(Errors, StreamThatDoesNotExistIsNamed) {
  for (int stream : {1, 99, -1}) {
    const Status status = Opening(Path(Clip::kH264), {.stream_index = stream});
    EXPECT_EQ(ExitCodeFor(status.code()), 2) << status;
    EXPECT_TRUE(Names(status, std::to_string(stream))) << status;
  }
}

TEST_F(Errors, UnknownBackendOptionIsNamed) {
  const Status status = Opening(Path(Clip::kH264),
                                {.backend_options = {{"no_such_option", "1"}}});
  EXPECT_EQ(status.code(), Code::kUnsupported) << status;
  EXPECT_TRUE(Names(status, "no_such_option")) << status;
}

TEST_F(Errors, FilesThatAreNoVideoAreNamed) {
  const struct {
    std::string path;
    Code code;
  } cases[] = {
      {TemporaryDirectory() + "/missing.mp4", Code::kNotFound},
      {TemporaryDirectory(), Code::kInvalidArgument},
      {Write("empty.mp4", ""), Code::kBadInput},
      {Write("text.mp4", "no film, only words\n"), Code::kBadInput},
  };
  for (const auto& [path, code] : cases) {
    const Status status = Opening(path);
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_TRUE(Names(status, path)) << status;
  }
}

TEST_F(Errors, ErrorHurtsNoOtherSession) {
  VideoDecoder video = Open(Clip::kH264);
  const std::string text = Write("text.mp4", "no film, only words\n");
  const auto hashes = HashesOf(video, [&](VideoDecoder&, size_t frame) {
    if (frame % 40 == 20) {
      EXPECT_FALSE(Opening(text).ok());
    }
  });
  EXPECT_EQ(hashes, Reference(Clip::kH264));
  EXPECT_EQ(video.recovery().restarts, 0u);
}

TEST_F(Errors, PictureBeyondTheLimitIsRefused) {
  HostOptions options = OptionsUnderTest();
  options.limits.frame_pixels = 320 * 240 - 1;
  const auto small = Host::Create(options).value();
  const auto video =
      small->OpenVideo(Path(Clip::kH264), {.device = DeviceUnderTest()});
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kResourceExhausted) << video.error();
}

TEST_F(Errors, SessionBeyondTheLimitIsRefused) {
  HostOptions options = OptionsUnderTest();
  options.limits.session_bytes = 100'000;
  const auto small = Host::Create(options).value();
  const auto video =
      small->OpenVideo(Path(Clip::kH264), {.device = DeviceUnderTest()});
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kResourceExhausted) << video.error();
}

}  // namespace
}  // namespace bulkhead::tests
