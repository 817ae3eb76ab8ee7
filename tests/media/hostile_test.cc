// SPDX-License-Identifier: Apache-2.0
//
// The files of hostile/ below BULKHEAD_SHARED, each on both devices. They share
// a Host with each other and with an intact clip that is decoded after each, so
// that what a file leaves is seen. Some of them, one for each way to
// end, also go through the command.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/media/sample_files.h"
#include "tests/support/act_on_host.h"
#include "tests/support/await.h"
#include "tests/support/frame_hash.h"
#include "tests/support/high_water.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr milliseconds kLimit{45'000};
constexpr minutes kLimitOfHost{15};
constexpr milliseconds kProcessesEnd{20'000};
constexpr long kMaxRssKib = 2L << 20;
constexpr const char* kDevices[] = {"cpu", "openreg:0"};
// Each backend keeps a reaper, a zygote and a worker for the next session.
constexpr size_t kProcesses = 3 * std::size(kDevices);
// The number of shards in the BUILD file.
constexpr size_t kHosts = 4;

TEST(Samples, AreThere) {
  if (HostileFiles().empty()) GTEST_SKIP() << WhyNoSamples();
}

// Checks an exit code and the message that comes with it: the codes for
// success, a file without video, a damaged file, and a limit that the file
// exceeds.
void ExpectClear(int exit_code, const std::string& message) {
  switch (exit_code) {
    case 0:
      break;
    case 2:
      EXPECT_NE(message.find("has no video stream"), std::string::npos)
          << message;
      break;
    case 3:
      EXPECT_FALSE(message.empty());
      break;
    case 4:
      EXPECT_NE(message.find("limit"), std::string::npos) << message;
      break;
    default:
      ADD_FAILURE() << exit_code << ": " << message;
  }
}

// The parameter chooses which files share the Host.
class Hostile : public testing::TestWithParam<size_t> {
 protected:
  // Decodes as a caller who reads each byte.
  static Status Decode(Host& host, const std::string& path, const char* device,
                       std::vector<std::string>& hashes) {
    auto video = host.OpenVideo(path, {.device = device});
    if (!video) return video.error();
    for (;;) {
      const auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return Status();
      hashes.push_back(HashOf(**frame));
    }
  }

  static void ExpectEnd(Host& host, const SampleFile& file,
                        const char* device) {
    std::vector<std::string> hashes;
    const auto began = std::chrono::steady_clock::now();
    const Status end = Decode(host, file.path, device, hashes);
    EXPECT_LT(std::chrono::steady_clock::now() - began, kLimit);
    ExpectClear(ExitCodeFor(end.code()), end.ToString());
    if (end.ok()) {
      EXPECT_FALSE(hashes.empty()) << "neither frames nor an error";
    } else {
      EXPECT_NE(end.message().find(file.name), std::string::npos) << end;
    }
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, kMaxRssKib);
    HighWater bulkheadd;
    bulkheadd.Look(host.supervisor_pid());
    EXPECT_LT(bulkheadd.resident_kib, kMaxRssKib);
  }

  // Expects that the Host has no process of a session left, and both backends
  // as they were when they started.
  static void ExpectNothingLeft(Host& host) {
    EXPECT_TRUE(Await(
        [&] {
          return DescendantsOf(host.supervisor_pid()).size() <= kProcesses;
        },
        kProcessesEnd));
    for (const BackendInfo& backend : host.Backends().value().backends) {
      EXPECT_EQ(backend.state, "ready")
          << backend.name << ": " << backend.reason;
      EXPECT_EQ(backend.incarnation, 1u) << backend.name;
      EXPECT_TRUE(backend.session_pids.empty()) << backend.name;
    }
  }
};

TEST_P(Hostile, FilesEndWithFramesOrAnErrorAndTakeNothingFromOthers) {
  const std::string intact = ClipOrSkip(Clip::kOddSize);
  if (intact.empty()) return;
  const std::vector<std::string> expected = HashesByFfmpeg(intact).value();
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.plugin_path.emplace();
  const std::vector<SampleFile> files = HostileFiles();
  if (files.empty()) GTEST_SKIP() << WhyNoSamples();
  const Status status = ActOnHost(options, kLimitOfHost, [&](Host& host) {
    for (const char* device : kDevices) {
      if (Status ready = host.Prewarm(device); !ready.ok()) return ready;
    }
    for (size_t i = GetParam(); i < files.size(); i += kHosts) {
      for (const char* device : kDevices) {
        SCOPED_TRACE(files[i].name + " on " + device);
        ExpectEnd(host, files[i], device);
        std::vector<std::string> hashes;
        const Status end = Decode(host, intact, device, hashes);
        EXPECT_TRUE(end.ok()) << end;
        EXPECT_EQ(hashes, expected);
        ExpectNothingLeft(host);
      }
    }
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status;
}

INSTANTIATE_TEST_SUITE_P(Hosts, Hostile, testing::Range(size_t{0}, kHosts));

// The exit code and the words that the command has for a file.
struct Outcome {
  const char* file;
  int exit_code;
  const char* words;  // on stderr
};

class HostileToCommand : public testing::TestWithParam<Outcome> {};

TEST_P(HostileToCommand, EndsInTimeWithFramesOrAnError) {
  const std::vector<SampleFile> files = HostileFiles();
  if (files.empty()) GTEST_SKIP() << WhyNoSamples();
  const auto file = std::find_if(
      files.begin(), files.end(),
      [](const SampleFile& file) { return file.name == GetParam().file; });
  ASSERT_NE(file, files.end()) << GetParam().file;
  for (const char* device : kDevices) {
    SCOPED_TRACE(device);
    const ProgramResult result =
        RunProgram({PathFromEnvironment("BULKHEAD_TEST_CLI"), "--libexec",
                    LibexecDirectory(), "decode", file->path, "--device",
                    device, "--format", "null"},
                   {.environment = {}, .limit = kLimit});
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.Describe();
    ExpectClear(result.exit_code, result.errors);
    EXPECT_NE(result.errors.find(GetParam().words), std::string::npos)
        << result.errors;
    EXPECT_LT(result.max_rss_kib, kMaxRssKib);
  }
}

constexpr Outcome kOutcomes[] = {
    {"crafted__bomb_h264_8192x4320_20f.mp4", 0, "20 frames in "},
    {"crafted__bomb_wav_hdr_claims_4GiB.wav", 2, "instead (--audio)"},
    {"AFL__ffmpeg-h264-call-stack-overflow.mp4", 3, "it has: data none"},
    {"taglib__segfault.wav", 3, "cannot be opened as media"},
    {"gstreamer__13.obu", 3, "no frame of its video stream can be decoded"},
    {"mut63_randblock_testFLV.flv", 3, "frame 12 at 0.500000 s"},
    {"mut62_trunc_transparent.webm", 3, "the file is cut off"},
    {"crafted__m3u8_loopback_named.mp4", 3, "refers to other files"},
    {"mut26_moov_int_video_180.mov", 3, "libavcodec knows no codec"},
    {"crafted__bomb_png_16000x16000.mkv", 4, "the limit frame_pixels"},
};

INSTANTIATE_TEST_SUITE_P(Files, HostileToCommand, testing::ValuesIn(kOutcomes),
                         [](const auto& outcome) {
                           return TestName({outcome.param.file, ""});
                         });

}  // namespace
}  // namespace bulkhead::tests
