// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "tools/cli/operators/event_facts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

namespace bulkhead::cli::operators {
namespace {

using std::chrono::milliseconds;

Event At(milliseconds unix_time) {
  Event event;
  event.time = std::chrono::system_clock::time_point(unix_time);
  return event;
}

TEST(EventFacts, HaveTheTimeOfCrashRecords) {
  EXPECT_EQ(TimeText(At(milliseconds(1'782'907'200'007))),
            "2026-07-01T12:00:00.007Z");
  EXPECT_EQ(FactsOf(At(milliseconds(1)))["time"], "1970-01-01T00:00:00.001Z");
}

TEST(EventFacts, HaveEveryMemberForEveryKind) {
  const auto least = FactsOf(At(milliseconds(1)));
  EXPECT_EQ(least["version"], kEventFormatVersion);
  for (const char* member :
       {"unix_ms", "host_pid", "number", "lost", "kind", "backend"}) {
    EXPECT_FALSE(least[member].is_null()) << member;
  }
  for (const char* member : {"session", "device", "state", "text", "exit"}) {
    EXPECT_TRUE(least.contains(member) && least[member].is_null()) << member;
  }
}

TEST(EventFacts, LeaveOutWhatAProcessClaims) {
  Event event = At(milliseconds(1));
  event.exit = ExitReport{.kind = ExitReport::Kind::kSignaled,
                          .value = 11,
                          .position = "clip.mp4, frame 3",
                          .crash = 12,
                          .claimed_address = 0xdead,
                          .claimed_backtrace = {"a secret of the media"}};
  const auto exit = FactsOf(event)["exit"];
  EXPECT_EQ(exit.dump(),
            R"({"kind":"signaled","value":11,"position":"clip.mp4, frame 3",)"
            R"("syscall":null,"crash":12})");
  event.exit = ExitReport{.kind = ExitReport::Kind::kSandboxViolation,
                          .syscall_trusted = true,
                          .syscall_number = 41,
                          .syscall = "socket"};
  EXPECT_EQ(FactsOf(event)["exit"]["syscall"], "socket");
}

}  // namespace
}  // namespace bulkhead::cli::operators
