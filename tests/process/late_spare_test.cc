// SPDX-License-Identifier: Apache-2.0
//
// A zygote that keeps the worker for the next session to itself has no process
// that goes on while a session has media.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/await.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

class LateSpare : public testing::TestWithParam<const char*> {};

TEST_P(LateSpare, EndsWhileASessionHasMedia) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.plugin_path = {DistributionDirectory()};
  options.autoload = true;
  const auto host = Host::Create(options).value();
  const VideoOptions video = {.device = std::string(GetParam()) + "/late"};
  ASSERT_TRUE(host->Prewarm(video.device).ok());
  // The reaper and the zygote are left once the probe of devices has ended.
  std::set<pid_t> known;
  ASSERT_TRUE(Await(
      [&] {
        const auto started = DescendantsOf(host->supervisor_pid());
        known = {started.begin(), started.end()};
        return known.size() == 2;
      },
      kPatience));

  VideoDecoder first = host->OpenVideo(clip, video).value();
  EXPECT_TRUE(first.Next().value());
  known.insert(first.worker_pid());
  pid_t spare = 0;
  ASSERT_TRUE(Await(
      [&] {
        for (const pid_t pid : DescendantsOf(host->supervisor_pid())) {
          if (!known.contains(pid)) spare = pid;
        }
        return spare != 0;
      },
      kPatience));
  const ProcessWatch watch(spare);
  EXPECT_TRUE(watch.valid());
  ExpectOutcome(Escape(89),
                std::string("a worker of no session: ") + GetParam(), "ends",
                watch.AwaitEnd() ? "ends" : "goes on");
  const size_t frames = HashesOfRest(first).size();
  EXPECT_GT(frames, 10u);
  VideoDecoder second = host->OpenVideo(clip, video).value();
  EXPECT_EQ(HashesOfRest(second).size(), frames + 1);
}

INSTANTIATE_TEST_SUITE_P(Each, LateSpare,
                         testing::Values("unnamed", "unlocked"));

}  // namespace
}  // namespace bulkhead::tests
