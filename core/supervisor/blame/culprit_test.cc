// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/culprit.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "ipc/worker_exit.h"

namespace bulkhead::blame {
namespace {

using Kind = ProcessExit::Kind;

ProcessExit Ended(Kind kind, int value) {
  return {.kind = kind, .value = value, .zygote_alive = true};
}

ProcessExit LostDevice() {
  ProcessExit exit = Ended(Kind::kExited, ipc::kExitDeviceLost);
  exit.has_devices = true;
  exit.says_device_lost = true;
  exit.device_found_lost = true;
  return exit;
}

Culprit Judge(const ProcessExit& exit,
              HostObservation seen = HostObservation::kDied,
              bool met_media = true) {
  return CulpritOf(exit, seen, met_media);
}

TEST(CulpritOf, ACrashWithMediaIsTheInputs) {
  EXPECT_EQ(Judge(Ended(Kind::kSignaled, SIGSEGV)), Culprit::kInput);
  EXPECT_EQ(Judge(Ended(Kind::kSignaled, SIGABRT)), Culprit::kInput);
  EXPECT_EQ(Judge(Ended(Kind::kExited, 0)), Culprit::kInput);
  EXPECT_EQ(Judge(Ended(Kind::kViolation, SIGSYS)), Culprit::kInput);
  EXPECT_EQ(Judge(Ended(Kind::kOutOfMemory, SIGKILL)), Culprit::kInput);
}

TEST(CulpritOf, ACrashWithoutMediaIsTheBackends) {
  EXPECT_EQ(
      Judge(Ended(Kind::kSignaled, SIGSEGV), HostObservation::kDied, false),
      Culprit::kBackend);
  EXPECT_EQ(Judge(Ended(Kind::kSignaled, SIGKILL),
                  HostObservation::kMissedDeadline, false),
            Culprit::kBackend);
}

TEST(CulpritOf, ALostDeviceIsTheDevices) {
  EXPECT_EQ(Judge(LostDevice()), Culprit::kDevice);
  EXPECT_EQ(Judge(LostDevice(), HostObservation::kDied, false),
            Culprit::kBackend);
  ProcessExit other = LostDevice();
  other.value = ipc::kExitDeviceLost + 1;
  EXPECT_EQ(Judge(other), Culprit::kInput);
  other = LostDevice();
  other.kind = Kind::kSignaled;
  other.value = SIGSEGV;
  EXPECT_EQ(Judge(other), Culprit::kInput);
}

TEST(CulpritOf, ABackendThatSaysThatItFailedIsToBlame) {
  ProcessExit exit = Ended(Kind::kExited, ipc::kExitBackendFailed);
  EXPECT_EQ(Judge(exit), Culprit::kInput);
  exit.says_backend_failed = true;
  for (const bool has_devices : {false, true}) {
    exit.has_devices = has_devices;
    EXPECT_EQ(Judge(exit), Culprit::kBreach);
  }
  EXPECT_EQ(Judge(exit, HostObservation::kDied, false), Culprit::kBackend);
  exit.value = 1;
  EXPECT_EQ(Judge(exit), Culprit::kInput);
}

TEST(CulpritOf, ADeviceThatOnlyAWorkerWithMediaFoundLostIsTheInputs) {
  ProcessExit exit = LostDevice();
  exit.device_found_lost = false;
  EXPECT_EQ(Judge(exit), Culprit::kInput);
  exit.device_lost_by_others = true;
  EXPECT_EQ(Judge(exit), Culprit::kBreach);
}

TEST(CulpritOf, WhatTookTheTasksIsToBlameAndWhatLackedThemIsNot) {
  ProcessExit hog = Ended(Kind::kSignaled, SIGKILL);
  hog.took_all_tasks = true;
  EXPECT_EQ(Judge(hog), Culprit::kInput);
  hog.shared = true;
  EXPECT_EQ(Judge(hog), Culprit::kNobody);
  ProcessExit other = Ended(Kind::kSignaled, SIGABRT);
  other.lacked_tasks = true;
  EXPECT_EQ(Judge(other), Culprit::kNobody);
  EXPECT_EQ(Judge(other, HostObservation::kDied, false), Culprit::kNobody);
  EXPECT_EQ(Judge(other, HostObservation::kMissedDeadline), Culprit::kNobody);
  EXPECT_EQ(Judge(other, HostObservation::kBrokeProtocol), Culprit::kBreach);
}

TEST(CulpritOf, OnlyABackendWithDevicesThatSaysSoLosesOne) {
  ProcessExit exit = LostDevice();
  exit.has_devices = false;
  EXPECT_EQ(Judge(exit), Culprit::kBreach);
  exit = LostDevice();
  exit.says_device_lost = false;
  EXPECT_EQ(Judge(exit), Culprit::kInput);
}

TEST(CulpritOf, AKillThatWeDidNotSendIsNobodys) {
  EXPECT_EQ(Judge(Ended(Kind::kSignaled, SIGKILL)), Culprit::kNobody);
  EXPECT_EQ(
      Judge(Ended(Kind::kSignaled, SIGKILL), HostObservation::kDied, false),
      Culprit::kNobody);
}

TEST(CulpritOf, ARequestToEndIsNobodysOnceThereIsMedia) {
  for (const int signal :
       {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    const ProcessExit exit = Ended(Kind::kSignaled, signal);
    EXPECT_EQ(Judge(exit), Culprit::kNobody) << signal;
    EXPECT_EQ(Judge(exit, HostObservation::kMissedDeadline), Culprit::kInput);
    EXPECT_EQ(Judge(exit, HostObservation::kDied, false), Culprit::kBackend);
  }
}

TEST(CulpritOf, OurOwnKillIsForWhatItDid) {
  EXPECT_EQ(
      Judge(Ended(Kind::kSignaled, SIGKILL), HostObservation::kMissedDeadline),
      Culprit::kInput);
  EXPECT_EQ(
      Judge(Ended(Kind::kSignaled, SIGKILL), HostObservation::kBrokeProtocol),
      Culprit::kBreach);
  EXPECT_EQ(Judge(Ended(Kind::kSignaled, SIGKILL),
                  HostObservation::kBrokeProtocol, false),
            Culprit::kBackend);
}

TEST(CulpritOf, AWorkerThatOthersStoppedIsNobodys) {
  for (const bool met_media : {false, true}) {
    EXPECT_EQ(Judge(Ended(Kind::kSignaled, SIGKILL),
                    HostObservation::kFoundStopped, met_media),
              Culprit::kNobody);
  }
}

TEST(CulpritOf, WhatEndsWithItsZygoteOrUnknownIsNobodys) {
  ProcessExit with_zygote = Ended(Kind::kSignaled, SIGSEGV);
  with_zygote.zygote_alive = false;
  EXPECT_EQ(Judge(with_zygote), Culprit::kNobody);
  EXPECT_EQ(Judge(Ended(Kind::kUnknown, 0)), Culprit::kNobody);
  EXPECT_EQ(Judge(Ended(Kind::kRunning, 0)), Culprit::kNobody);
}

TEST(CulpritOf, OfOneThatServedOthersTooNobodyKnows) {
  ProcessExit shared = Ended(Kind::kSignaled, SIGSEGV);
  shared.shared = true;
  EXPECT_EQ(Judge(shared), Culprit::kNobody);
  EXPECT_EQ(Judge(shared, HostObservation::kMissedDeadline), Culprit::kInput);
}

}  // namespace
}  // namespace bulkhead::blame
