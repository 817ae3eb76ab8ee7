// SPDX-License-Identifier: Apache-2.0
//
// A successor that lies during its health check does not take over, and does
// not harm bulkheadd.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/deadlines.h"

namespace bulkhead::tests {
namespace {

const std::vector<std::string> kLies = {"hello_none",
                                        "hello_version",
                                        "hello_garbage",
                                        "hello_descriptor",
                                        "hello_closed",
                                        "open_silent",
                                        "open_violation",
                                        "open_no_pixels",
                                        "open_huge",
                                        "open_failed_unknown",
                                        "open_other_answer",
                                        "open_index_end",
                                        "open_frame",
                                        "pool_silent",
                                        "pool_frame",
                                        "pool_other_answer",
                                        "pool_failed",
                                        "play_entered_storm",
                                        "play_silent",
                                        "play_paused",
                                        "play_unasked",
                                        "ring_cursor_ahead",
                                        "ring_cursor_unaligned",
                                        "ring_cursor_back",
                                        "ring_length_zero",
                                        "ring_length_huge",
                                        "ring_length_beyond",
                                        "ring_skip_to_nothing",
                                        "ring_root_outside",
                                        "ring_unknown_reply",
                                        "frame_silent",
                                        "frame_spins",
                                        "frame_slot_beyond",
                                        "frame_stride_small",
                                        "frame_stride_overflows",
                                        "frame_stride_beyond",
                                        "frame_wrong_generation",
                                        "frame_other_width"};
// Lies that only harm the liar.
const std::vector<std::string> kUnseen = {
    "play_wakes", "play_full_eventfd", "play_always_asleep", "ring_read_ahead"};

std::vector<std::string> AllNames() {
  std::vector<std::string> names = kLies;
  names.insert(names.end(), kUnseen.begin(), kUnseen.end());
  names.push_back("honest");
  return names;
}

TEST(HostileSuccessor, IsNotTakenAndHarmsNobody) {
  const LyingInstallation installation(AllNames());
  for (const std::string& name : AllNames()) installation.BringClip(name);
  HostOptions options = installation.options();
  options.deadlines.backend_start = kShort;
  options.deadlines.worker_start = kShort;
  const auto host = Host::Create(options).value();
  const int supervisor = host->supervisor_pid();
  for (const std::string& lie : kLies) {
    ASSERT_TRUE(host->Prewarm(lie).ok()) << lie;
    const Status status = host->Reload(lie);
    EXPECT_TRUE(status.code() == Code::kBackendUnavailable ||
                status.code() == Code::kBackendMisbehaved)
        << lie << ": " << status;
    EXPECT_NE(status.message().find("its own clip"), std::string::npos)
        << lie << ": " << status;
  }
  for (const std::string& lie : kUnseen) {
    ASSERT_TRUE(host->Prewarm(lie).ok()) << lie;
    (void)host->Reload(lie);
  }
  ASSERT_TRUE(host->Prewarm("honest").ok());
  const Status reloaded = host->Reload("honest");
  EXPECT_TRUE(reloaded.ok()) << reloaded;
  EXPECT_EQ(host->supervisor_pid(), supervisor);
}

}  // namespace
}  // namespace bulkhead::tests
