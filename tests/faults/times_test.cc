// SPDX-License-Identifier: Apache-2.0
//
// The death of a worker changes no timestamp and no duration. libavformat
// leaves the durations of the first packets unknown in some containers, and
// knows them when it reads the same packets again after a seek.

#include <gtest/gtest.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kKillsUntil = 24;
constexpr size_t kStep = 3;
constexpr uint32_t kSlots = 2;  // frames that a worker can be ahead

// The timestamp and the duration of each frame.
using Times = std::vector<std::pair<std::optional<int64_t>, int64_t>>;

// Kills the worker after frame `kill_at`; never if it is 0.
Times Decode(Host& host, const std::string& path, size_t kill_at) {
  auto video = host.OpenVideo(path, {.device = "cpu"});
  EXPECT_TRUE(video) << video.error();
  Times times;
  while (video) {
    const auto frame = video->Next();
    EXPECT_TRUE(frame) << frame.error();
    if (!frame || !*frame) break;
    times.emplace_back((*frame)->pts(), (*frame)->duration());
    if (times.size() != kill_at) continue;
    EXPECT_EQ(kill(video->worker_pid(), SIGKILL), 0);
  }
  if (video) {
    EXPECT_EQ(video->recovery().restarts, kill_at > 0 ? 1u : 0u);
  }
  return times;
}

// Returns what an undisturbed pass shows.
Times ExpectSameTimesAfterADeath(const std::string& clip) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.limits.frame_slots = kSlots;
  const auto host = Host::Create(options).value();
  const Times undisturbed = Decode(*host, clip, 0);
  EXPECT_GT(undisturbed.size(), kKillsUntil / 2);
  for (size_t at = 1; at < kKillsUntil; at += kStep) {
    // A worker that has filled the slots with the last frames need not live on.
    if (at + kSlots >= undisturbed.size()) break;
    EXPECT_EQ(Decode(*host, clip, at), undisturbed)
        << "killed after frame " << at;
  }
  return undisturbed;
}

// Sets the default duration of the samples of each fragment to 0, which stands
// in its header after the track and what the flags say.
void ForgetDurations(std::string& mp4) {
  constexpr size_t kFlags = 7;      // the last byte of the flags
  constexpr size_t kOptional = 12;  // the fields that the flags announce
  int fragments = 0;
  for (size_t at = 0; (at = mp4.find("tfhd", at)) != std::string::npos; ++at) {
    const auto flags = static_cast<unsigned char>(mp4.at(at + kFlags));
    size_t duration = at + kOptional;
    if ((flags & 1) != 0) duration += 8;  // the offset of the data
    if ((flags & 2) != 0) duration += 4;  // the description of the samples
    if ((flags & 8) == 0) continue;
    mp4.replace(duration, 4, 4, '\0');
    ++fragments;
  }
  EXPECT_GT(fragments, 0);
}

class TimesOf : public testing::TestWithParam<Clip> {};

TEST_P(TimesOf, FramesAreTheSameAfterADeath) {
  const std::string clip = ClipOrSkip(GetParam());
  if (clip.empty()) return;
  ExpectSameTimesAfterADeath(clip);
}

// libavformat knows no duration of the packets from which it takes the frame
// rate.
TEST(TimesOfFragments, WithoutDurationsAreTheSameAfterADeath) {
  const std::string path = TemporaryDirectory() + "/fragments.mp4";
  const ProgramResult made =
      RunFfmpeg({"-y", "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=24",
                 "-frames:v", "48", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p",
                 "-movflags", "frag_every_frame+empty_moov", path});
  if (made.exit_code != 0) GTEST_SKIP() << "no ffmpeg on this machine";
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  std::string mp4 = bytes.str();
  ForgetDurations(mp4);
  std::ofstream(path, std::ios::binary) << mp4;
  const Times undisturbed = ExpectSameTimesAfterADeath(path);
  ASSERT_FALSE(undisturbed.empty());
  EXPECT_EQ(undisturbed.front().second, 0) << "no duration is unknown";
  EXPECT_NE(undisturbed.back().second, 0);
}

INSTANTIATE_TEST_SUITE_P(Clips, TimesOf, testing::ValuesIn(AllClips()),
                         [](const auto& clip) {
                           return std::string(ClipName(clip.param));
                         });

}  // namespace
}  // namespace bulkhead::tests
