// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/culprit.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "ipc/worker_exit.h"

namespace bulkhead::supervisor {
namespace {

using Kind = WorkerEnd::Kind;

WorkerEnd Ended(Kind kind, int value) {
  return {.kind = kind, .value = value, .zygote_alive = true};
}

Culprit Blame(const WorkerEnd& end, SeenEnd seen = SeenEnd::kDied,
              bool met_media = true) {
  return CulpritOf(end, seen, met_media);
}

TEST(WorkerBlame, ACrashWithMediaIsTheInputs) {
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, SIGSEGV)), Culprit::kInput);
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, SIGABRT)), Culprit::kInput);
  EXPECT_EQ(Blame(Ended(Kind::kExited, 0)), Culprit::kInput);
  EXPECT_EQ(Blame(Ended(Kind::kViolation, SIGSYS)), Culprit::kInput);
  EXPECT_EQ(Blame(Ended(Kind::kOutOfMemory, SIGKILL)), Culprit::kInput);
}

TEST(WorkerBlame, ACrashWithoutMediaIsTheBackends) {
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, SIGSEGV), SeenEnd::kDied, false),
            Culprit::kBackend);
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, SIGKILL), SeenEnd::kLate, false),
            Culprit::kBackend);
}

TEST(WorkerBlame, ALostDeviceIsTheDevices) {
  EXPECT_EQ(Blame(Ended(Kind::kExited, ipc::kExitDeviceLost)),
            Culprit::kDevice);
  EXPECT_EQ(
      Blame(Ended(Kind::kExited, ipc::kExitDeviceLost), SeenEnd::kDied, false),
      Culprit::kBackend);
  EXPECT_EQ(Blame(Ended(Kind::kExited, ipc::kExitDeviceLost + 1)),
            Culprit::kInput);
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, ipc::kExitDeviceLost)),
            Culprit::kInput);
}

TEST(WorkerBlame, AKillThatWeDidNotSendIsNobodys) {
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, SIGKILL)), Culprit::kNobody);
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, SIGKILL), SeenEnd::kDied, false),
            Culprit::kNobody);
}

TEST(WorkerBlame, OurOwnKillIsForWhatItDid) {
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, SIGKILL), SeenEnd::kLate),
            Culprit::kInput);
  EXPECT_EQ(Blame(Ended(Kind::kSignaled, SIGKILL), SeenEnd::kLied),
            Culprit::kBackend);
}

TEST(WorkerBlame, WhatEndsWithItsZygoteOrUnknownIsNobodys) {
  WorkerEnd with_zygote = Ended(Kind::kSignaled, SIGSEGV);
  with_zygote.zygote_alive = false;
  EXPECT_EQ(Blame(with_zygote), Culprit::kNobody);
  EXPECT_EQ(Blame(Ended(Kind::kUnknown, 0)), Culprit::kNobody);
  EXPECT_EQ(Blame(Ended(Kind::kRunning, 0)), Culprit::kNobody);
}

TEST(WorkerBlame, OfOneThatServedOthersTooNobodyKnows) {
  WorkerEnd shared = Ended(Kind::kSignaled, SIGSEGV);
  shared.shared = true;
  EXPECT_EQ(Blame(shared), Culprit::kNobody);
  EXPECT_EQ(Blame(shared, SeenEnd::kLate), Culprit::kInput);
}

}  // namespace
}  // namespace bulkhead::supervisor
