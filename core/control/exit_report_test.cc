// SPDX-License-Identifier: Apache-2.0
#include "core/control/exit_report.h"

#include <gtest/gtest.h>

#include "ipc/worker_exit.h"

namespace bulkhead {
namespace {

TEST(DescribeExitTest, NamesTheSystemCall) {
  ExitReport report;
  report.kind = ExitReport::Kind::kSandboxViolation;
  report.syscall_trusted = true;
  report.syscall_number = 41;
  report.syscall = "socket";
  report.architecture = "x86_64";
  report.stage = 2;
  EXPECT_EQ(DescribeExit(report),
            "it was killed by its sandbox (stage 2) for the system call socket "
            "(41, x86_64)");
  report.syscall.clear();
  report.syscall_number = 100000;
  report.stage = 0;
  EXPECT_EQ(DescribeExit(report),
            "it was killed by its sandbox for the system call 100000 (x86_64)");
}

TEST(DescribeExitTest, SaysWhenTheSystemCallIsNotKnown) {
  ExitReport report;
  report.kind = ExitReport::Kind::kSandboxViolation;
  EXPECT_EQ(DescribeExit(report),
            "it was killed by its sandbox for a forbidden system call; which "
            "one is not known");
}

TEST(DescribeExitTest, QuotesTheBackendOfALostDevice) {
  ExitReport report;
  report.kind = ExitReport::Kind::kExited;
  report.value = ipc::kExitDeviceLost;
  EXPECT_EQ(DescribeExit(report), "it exited with code 3");
  report.claimed_backtrace = {"acme: the card fell off the bus"};
  EXPECT_EQ(DescribeExit(report),
            "it exited because its device is lost, by its own account: "
            "acme: the card fell off the bus");
}

TEST(DescribeExitTest, SaysWhenAWorkerCouldNotBeLockedDown) {
  ExitReport report;
  report.kind = ExitReport::Kind::kExited;
  report.value = ipc::kExitLockdown;
  EXPECT_EQ(DescribeExit(report),
            "it exited with code 5, with which a worker says that stage 2 of "
            "its sandbox, or the limit of its memory, cannot be installed");
}

TEST(DescribeExitTest, SaysThatItWasForMemory) {
  ExitReport report;
  report.kind = ExitReport::Kind::kOutOfMemory;
  EXPECT_EQ(DescribeExit(report),
            "it was killed because its backend was at its limit of memory");
}

}  // namespace
}  // namespace bulkhead
