// SPDX-License-Identifier: Apache-2.0
//
// A stream whose timestamps repeat, as in recordings that were joined, loses no
// frame when its worker dies.

#include <gtest/gtest.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/support/frame_hash.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kFrames = 48;  // of each part
constexpr uint32_t kSlots = 2;  // frames that a worker can be ahead

// Returns the path of a transport stream whose timestamps begin anew in the
// middle. Both parts show `sources` of ffmpeg's; empty if ffmpeg makes none.
std::string Joined(const std::vector<std::string>& sources) {
  const std::string path = TemporaryDirectory() + "/joined.ts";
  std::ofstream joined(path, std::ios::binary);
  for (const std::string& source : sources) {
    const std::string part = TemporaryDirectory() + "/part.ts";
    const ProgramResult made =
        RunFfmpeg({"-y", "-f", "lavfi", "-i", source + "=size=160x120:rate=24",
                   "-frames:v", std::to_string(kFrames), "-c:v", "libx264",
                   "-g", "12", "-pix_fmt", "yuv420p", part});
    if (made.exit_code != 0) return "";
    joined << std::ifstream(part, std::ios::binary).rdbuf();
  }
  return path;
}

// Returns the hashes of all frames; kills the worker after frame `kill_at`.
std::vector<std::string> Decode(Host& host, const std::string& path,
                                size_t kill_at) {
  auto video = host.OpenVideo(path, {.device = "cpu"});
  EXPECT_TRUE(video) << video.error();
  std::vector<std::string> hashes;
  while (video) {
    const auto frame = video->Next();
    EXPECT_TRUE(frame) << frame.error();
    if (!frame || !*frame) break;
    hashes.push_back(HashOf(**frame));
    if (hashes.size() != kill_at) continue;
    EXPECT_EQ(kill(video->worker_pid(), SIGKILL), 0);
  }
  if (video) {
    EXPECT_EQ(video->recovery().restarts, kill_at > 0 ? 1u : 0u);
  }
  return hashes;
}

class RepeatingTimes : public testing::TestWithParam<const char*> {};

TEST_P(RepeatingTimes, LoseNoFrameWhenTheWorkerDies) {
  const std::string path = Joined({"testsrc2", GetParam()});
  if (path.empty()) GTEST_SKIP() << "no ffmpeg with libx264 on this machine";
  HostOptions options = {.state_directory = "",
                         .libexec_dir = LibexecDirectory()};
  options.limits.frame_slots = kSlots;
  auto host = Host::Create(options).value();
  const std::vector<std::string> alone = Decode(*host, path, 0);
  ASSERT_EQ(alone.size(), 2 * kFrames);
  // A worker that has filled the slots with the last frames need not live on.
  const size_t last = alone.size() - kSlots - 1;
  for (size_t at = 1; at <= last;) {
    SCOPED_TRACE(at);
    EXPECT_EQ(Decode(*host, path, at), alone);
    // A seek to one of the last frames of the first part may go to either part.
    const bool at_its_end = at + 8 > kFrames && at < kFrames;
    at += at_its_end ? 1 : 5;
  }
}

INSTANTIATE_TEST_SUITE_P(SecondParts, RepeatingTimes,
                         // Other pictures, and the same ones once more.
                         testing::Values("smptebars", "testsrc2"),
                         [](const auto& row) {
                           return std::string(row.param);
                         });

}  // namespace
}  // namespace bulkhead::tests
