// SPDX-License-Identifier: Apache-2.0
#include "core/base/application_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <set>
#include <string>

#include "ipc/testing/forked_child.h"

namespace bulkhead {
namespace {

using ::testing::HasSubstr;

Status RanOut(const std::string& message) {
  return Status(Code::kResourceExhausted, message);
}

// Runs `body` in a process that has few descriptors, and no other low limit
// that this process has not.
bool WithFewFiles(const std::function<bool()>& body) {
  ipc::ForkedChild child([&] {
    const rlimit files = {64, 64};
    return ::setrlimit(RLIMIT_NOFILE, &files) == 0 && body() ? 0 : 1;
  });
  return child.Wait() == 0;
}

// Makes exactly the descriptors below `end` open, except `closed`.
bool OpenAllBut(int end, const std::set<int>& closed) {
  for (int fd = 3; fd < 64; ++fd) {
    const bool open = fd < end && !closed.contains(fd);
    if (open ? ::dup2(2, fd) < 0 : ::close(fd) < 0 && errno != EBADF) {
      return false;
    }
  }
  return true;
}

TEST(NearOpenFiles, CountsThem) {
  EXPECT_TRUE(WithFewFiles([] {
    if (!OpenAllBut(57, {}) || NearOpenFiles(56, 0)) return false;
    if (!OpenAllBut(58, {})) return false;
    const auto near = NearOpenFiles(57, 0);
    return near && near->open == 58 && near->limit == 64;
  }));
}

TEST(NearOpenFiles, TakesThoseThatWereClosedForClosed) {
  EXPECT_TRUE(WithFewFiles([] {
    return OpenAllBut(64, {10, 11, 12, 13, 14, 15, 16, 17}) &&
           !NearOpenFiles(63, 0);
  }));
}

TEST(NearOpenFiles, SeesThoseOfHigherNumbers) {
  EXPECT_TRUE(WithFewFiles([] {
    if (!OpenAllBut(64, {11, 12, 13})) return false;
    const auto near = NearOpenFiles(10, 0);
    return near && near->open == 61;
  }));
}

TEST(NearOpenFiles, LeavesRoomForWhatIsNeeded) {
  EXPECT_TRUE(WithFewFiles([] {
    return OpenAllBut(45, {}) && !NearOpenFiles(44, 19) &&
           NearOpenFiles(44, 20);
  }));
}

TEST(NamingLimits, AddsWhatIsLowOnlyWhereSomethingRanOut) {
  EXPECT_TRUE(WithFewFiles([] {
    const std::string named =
        NamingLimits(RanOut("a: Cannot allocate memory")).message();
    return named.find("64 open files (ulimit -n)") != std::string::npos;
  }));
  EXPECT_TRUE(WithFewFiles([] {
    const Status bad(Code::kBadInput, "the file ends early");
    return NamingLimits(bad).message() == bad.message();
  }));
}

TEST(NamingLimits, LeavesAMessageAloneThatNamesALimit) {
  for (const char* message :
       {"out of memory; raise the limit frame_pixels (--limit frame-pixels=N)",
        "Too many open files; raise the limit on open files (ulimit -n)"}) {
    EXPECT_TRUE(WithFewFiles(
        [&] { return NamingLimits(RanOut(message)).message() == message; }));
  }
}

// A container's limit, for one, is no limit of the process.
TEST(NamingLimits, TellsWhereToLookForALimitOfProcesses) {
  EXPECT_THAT(
      NamingLimits(RanOut("clone: Resource temporarily unavailable")).message(),
      HasSubstr("(ulimit -u)"));
}

}  // namespace
}  // namespace bulkhead
