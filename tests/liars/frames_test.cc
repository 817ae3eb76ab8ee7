// SPDX-License-Identifier: Apache-2.0
//
// Workers that die while they write a frame, or before they say that it is
// there, or that write to a frame which the application already has.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/act_on_host.h"
#include "tests/support/deadlines.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLimit{60'000};
constexpr int kMadeUpFrames = 24;
constexpr std::byte kWrittenLater{0xEE};

// Describes a made-up frame: its number if each of its bytes is that number,
// which is also its timestamp.
std::string Describe(const Frame& frame) {
  const std::byte first = frame.row(0)[0];
  for (uint32_t y = 0; y < frame.height(); ++y) {
    const auto row = frame.row(y);
    if (std::any_of(row.begin(), row.end(),
                    [first](std::byte byte) { return byte != first; })) {
      return "mixed";
    }
  }
  const int value = std::to_integer<int>(first);
  if (frame.pts() != value) return "another " + std::to_string(value);
  return std::to_string(value);
}

// Decodes to the end. Returns what each frame is.
std::vector<std::string> DescribeAll(const std::string& lie,
                                     uint32_t* restarts) {
  std::vector<std::string> frames;
  const LyingInstallation installation({lie});
  const Status status =
      ActOnHost(installation.options(), kLimit, [&](Host& host) -> Status {
        auto video = host.OpenVideo(installation.media(), {.device = lie});
        if (!video) return video.error();
        for (;;) {
          const auto frame = video->Next();
          *restarts = video->recovery().restarts;
          if (!frame) return frame.error();
          if (!*frame) return Status();
          frames.push_back(Describe(**frame));
        }
      });
  EXPECT_TRUE(status.ok()) << status;
  return frames;
}

std::vector<std::string> AllFrames() {
  std::vector<std::string> frames;
  for (int i = 0; i < kMadeUpFrames; ++i) frames.push_back(std::to_string(i));
  return frames;
}

TEST(FramesOfDeadWorkers, HalfAFrameIsNeverSeen) {
  uint32_t restarts = 0;
  ExpectSameFrames(Fault(9), "dies with half a picture in its slot",
                   AllFrames(),
                   DescribeAll("frame_half_written_once", &restarts));
  EXPECT_EQ(restarts, 1u);
}

TEST(FramesOfDeadWorkers, AFrameThatNobodyWasToldOfComesOnce) {
  uint32_t restarts = 0;
  ExpectSameFrames(Fault(10), "dies before it wakes the host", AllFrames(),
                   DescribeAll("frame_unannounced_once", &restarts));
  EXPECT_EQ(restarts, 1u);
}

TEST(FramesOfHostileWorkers, AFloodBringsNoneThatWasNotGranted) {
  const LyingInstallation installation({"frame_storm"});
  int frames = 0;
  const Status status =
      ActOnHost(installation.options(), kLimit, [&](Host& host) -> Status {
        auto video =
            host.OpenVideo(installation.media(), {.device = "frame_storm"});
        if (!video) return video.error();
        for (;; ++frames) {
          if (const auto next = video->Next(); !next) return next.error();
        }
      });
  ExpectOutcome(Fault(27), "frames without a grant", Code::kBackendMisbehaved,
                status);
  ExpectAtMost(Fault(27), "frames without a grant, taken", 3, frames, "frames");
}

// The worker writes to its slots once one of them is granted again.
TEST(FramesOfHostileWorkers, ASnapshotStaysWhatItWas) {
  const LyingInstallation installation({"frame_rewritten"});
  HostOptions options = installation.options();
  options.deadlines.frame = kShort;
  std::byte rewritten{};
  std::string snapshot;
  const Status status = ActOnHost(options, kLimit, [&](Host& host) -> Status {
    auto video =
        host.OpenVideo(installation.media(), {.device = "frame_rewritten"});
    if (!video) return video.error();
    const Frame frame = *video->Next().value();
    const Frame copy = frame.Snapshot();
    for (;;) {
      const auto next = video->Next();
      if (next) continue;
      rewritten = frame.row(0)[0];
      snapshot = Describe(copy);
      return next.error();
    }
  });
  ExpectOutcome(Escape(63), "writes to a frame that the host has",
                Code::kDeadlineExceeded, status);
  EXPECT_EQ(rewritten, kWrittenLater) << "it wrote nothing";
  ExpectOutcome(Escape(63), "the snapshot of that frame", "0", snapshot);
}

}  // namespace
}  // namespace bulkhead::tests
