// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/media_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

extern "C" {
#include <libavutil/log.h>
}

#include "backends/worker/media/demux/allowed_media.h"
#include "backends/worker/media/testing/ffmpeg_reference.h"
#include "ipc/error.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker::demux {
namespace {

// libavcodec's parser of H.264 logs this for each part of a stream's header.
constexpr char kParsed[] = "nal_unit_type:";

// Holds all that libavformat and libavcodec log, at any level.
std::string logged;

ipc::Expected<void> Open(const std::string& path, const AllowedMedia& allowed) {
  const ipc::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  logged.clear();
  av_log_set_callback([](void*, int, const char* format, va_list arguments) {
    char line[256];
    vsnprintf(line, sizeof(line), format, arguments);
    logged += line;
  });
  const auto opened = MediaFile::Open(
      file.get(), static_cast<int64_t>(std::filesystem::file_size(path)),
      "mixed.flv", UINT32_MAX, allowed);
  av_log_set_callback(av_log_default_callback);
  if (!opened) return tl::unexpected(opened.error());
  return {};
}

TEST(MediaFile, AStreamThatAppearsAmongPacketsIsRefusedBeforeItIsParsed) {
  if (!HasFfmpeg()) GTEST_SKIP() << "the ffmpeg command is not installed";
  const std::string path = TemporaryPath("mixed.flv");
  ASSERT_TRUE(
      RunFfmpeg("-f lavfi -i testsrc2=s=96x64:r=25 -f lavfi -i sine -t 1 "
                "-c:v libx264 -c:a aac '" +
                path + "'"));
  EXPECT_TRUE(Open(path, {}));
  EXPECT_NE(logged.find(kParsed), std::string::npos) << logged;

  const auto refused = Open(path, {.codecs = {{"aac"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ipc::Code::kUnsupported);
  EXPECT_NE(refused.error().message.find("the codec h264"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(logged.find(kParsed), std::string::npos) << logged;
}

}  // namespace
}  // namespace bulkhead::worker::demux
