// SPDX-License-Identifier: Apache-2.0
//
// A shadow whose worker breaks the protocol harms neither the stream nor
// bulkheadd, which speaks to that worker.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/liars/lying_installation.h"
#include "tests/shadow/shadowing.h"
#include "tests/support/deadlines.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

const std::vector<std::string> kLies = {
    "hello_none",
    "hello_garbage",
    "hello_closed",
    "open_silent",
    "open_violation",
    "open_huge",
    "open_failed_unknown",
    "open_frame",
    "pool_frame",
    "play_paused",
    "ring_cursor_ahead",
    "ring_length_huge",
    "ring_root_outside",
    "ring_unknown_reply",
    "frame_silent",
    "frame_spins",
    "frame_slot_beyond",
    "frame_stride_small",
    "frame_stride_overflows",
    "frame_stride_beyond",
    "frame_wrong_generation",
    "frame_other_width",
};

TEST(HostileShadow, HarmsNobody) {
  std::vector<std::string> names = kLies;
  names.push_back("honest");
  const LyingInstallation installation(names);
  HostOptions options = installation.options();
  options.deadlines.open = options.deadlines.seek = options.deadlines.frame =
      kShort;
  for (const std::string& lie : kLies) {
    options.shadow = {.against = lie, .share = 1};
    auto host = Host::Create(options).value();
    const ProcessWatch supervisor(host->supervisor_pid());
    Events events;
    {
      auto video = host->OpenVideo(installation.media(), {.device = "honest"});
      ASSERT_TRUE(video) << video.error();
      while (video->Next().value()) {
      }
    }
    const Event closed = events.Await(Event::Kind::kShadowClosed, 1).at(0);
    const BackendInfo info = InfoOf(*host, "honest");
    EXPECT_EQ(info.shadow.failed, 1u) << lie << ": " << closed.text;
    EXPECT_EQ(info.state, "ready") << lie;
    EXPECT_EQ(host->supervisor_pid(), supervisor.pid()) << lie;
    host.reset();
    // The next round follows the events of all bulkheadds of this process.
    EXPECT_TRUE(supervisor.AwaitEnd()) << lie;
  }
}

}  // namespace
}  // namespace bulkhead::tests
