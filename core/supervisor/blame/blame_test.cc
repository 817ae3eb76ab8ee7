// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "core/supervisor/blame/blame.h"

#include <gtest/gtest.h>
#include <kj/async.h>
#include <signal.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/base/testing/temporary_tree.h"
#include "ipc/worker_exit.h"

namespace bulkhead::blame {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using Step = InputPosition::Step;

// A backend without processes: its health checks end as the test says.
class FakeSubject : public BlameSubject {
 public:
  explicit FakeSubject(std::string path) : path_(std::move(path)) {}

  std::chrono::steady_clock::time_point Now() const override { return now; }
  bool ProvesNothingElsewhere() const override { return lacks_something; }
  bool CanBeTried() const override { return can_be_tried; }
  kj::Promise<Status> CheckHealth() override {
    ++checks;
    auto paf = kj::newPromiseAndFulfiller<Status>();
    under_way.push_back(kj::mv(paf.fulfiller));
    return kj::mv(paf.promise);
  }
  QuarantineRecord DescribeObject() const override {
    return {.backend = "acme", .path = path_, .bytes = 5, .modified_ns = 7};
  }
  kj::Promise<Result<std::string>> HashObject() override {
    return Result<std::string>(hash);
  }
  void Quarantine(Code code, const std::string& why) override {
    quarantines.push_back({code, why});
  }

  void EndCheck(Status status) {
    under_way.front()->fulfill(std::move(status));
    under_way.pop_front();
  }

  std::chrono::steady_clock::time_point now{std::chrono::hours(3)};
  bool lacks_something = false;
  bool can_be_tried = true;
  int checks = 0;
  std::deque<kj::Own<kj::PromiseFulfiller<Status>>> under_way;
  Result<std::string> hash = std::string("sha256=abc");
  std::vector<std::pair<Code, std::string>> quarantines;

 private:
  const std::string path_;
};

class BlameTest : public testing::Test {
 public:
  ~BlameTest() noexcept override {}  // kj's destructors may throw

 protected:
  WorkerDeath Crash(const std::string& input = "a") const {
    WorkerDeath death;
    death.exit = {.kind = ProcessExit::Kind::kSignaled,
                  .value = SIGSEGV,
                  .zygote_alive = true};
    death.met_media = true;
    death.position = {Step::kFrame, 60};
    death.input = input;
    death.device = "acme:0";
    death.opened = subject_.now;
    return death;
  }
  WorkerDeath LossOfDevice() const {
    WorkerDeath death = Crash();
    death.exit.kind = ProcessExit::Kind::kExited;
    death.exit.value = ipc::kExitDeviceLost;
    death.exit.has_devices = true;
    death.exit.says_device_lost = true;
    death.exit.device_found_lost = true;
    return death;
  }
  // A worker that broke the protocol before it was given any media.
  WorkerDeath Lie() const {
    WorkerDeath death = Crash();
    death.met_media = false;
    death.observed = HostObservation::kBrokeProtocol;
    return death;
  }

  WorkerDeath LieWithMedia(const std::string& input) const {
    WorkerDeath death = Crash(input);
    death.observed = HostObservation::kBrokeProtocol;
    return death;
  }

  // Returns the deaths of the input at that position.
  uint32_t Die(const WorkerDeath& death, Culprit expected) {
    const Culprit culprit = blame_.Attribute(death);
    EXPECT_EQ(culprit, expected);
    return blame_.Count(death, culprit, ToReport(death.exit));
  }
  void DieOfThreeInputs() {
    for (const char* input : {"a", "b", "c"})
      Die(Crash(input), Culprit::kInput);
  }
  void EndCheck(const Status& status) {
    ASSERT_FALSE(subject_.under_way.empty());
    subject_.EndCheck(status);
    loop_.run();
  }
  void Convict() {
    DieOfThreeInputs();
    EndCheck(kNoPicture);
    EndCheck(kNoPicture);
  }

  const Status kNoPicture{Code::kBackendUnavailable, "it gave no picture"};

  kj::EventLoop loop_;
  kj::WaitScope scope_{loop_};
  TemporaryTree tree_;
  QuarantineRecords records_{tree_ / "state"};
  FakeSubject subject_{tree_ / "acme.so"};
  BlameLimits limits_;
  Blame blame_{subject_, limits_, records_, [] { return 0.0; }};
};

TEST_F(BlameTest, WhatOnlyThisApplicationLacksQuarantinesNothing) {
  subject_.lacks_something = true;
  for (int i = 0; i < 20; ++i) {
    blame_.CountFailure(Culprit::kStart, Code::kBackendUnavailable, "again");
  }
  EXPECT_TRUE(subject_.quarantines.empty());
  EXPECT_GT(blame_.BackoffLeft(), nanoseconds(0));
  subject_.lacks_something = false;
  blame_.CountFailure(Culprit::kStart, Code::kBackendUnavailable, "again");
  EXPECT_EQ(subject_.quarantines.size(), 1u);
}

TEST_F(BlameTest, AnInputIsRefusedAtThePositionOfItsThirdDeath) {
  EXPECT_EQ(Die(Crash(), Culprit::kInput), 1u);
  EXPECT_EQ(Die(Crash(), Culprit::kInput), 2u);
  EXPECT_TRUE(blame_.Refused("a").empty());
  EXPECT_EQ(Die(Crash(), Culprit::kInput), 3u);
  ASSERT_EQ(blame_.Refused("a").size(), 1u);
  EXPECT_EQ(blame_.Refused("a")[0].last.value, SIGSEGV);
  EXPECT_TRUE(blame_.Refused("b").empty());
  subject_.now += InputDeaths::kLifetime;
  EXPECT_TRUE(blame_.Refused("a").empty());
}

TEST_F(BlameTest, AnInputCostsTheBackendNothing) {
  for (int i = 0; i < 100; ++i) Die(Crash(), Culprit::kInput);
  EXPECT_TRUE(subject_.quarantines.empty());
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
  EXPECT_EQ(blame_.BackoffLeft(), nanoseconds(0));
  EXPECT_EQ(subject_.checks, 0);
}

TEST_F(BlameTest, AFrameAtThePositionAcquitsTheInput) {
  for (int i = 0; i < 3; ++i) Die(Crash(), Culprit::kInput);
  blame_.FrameDelivered("a", {Step::kFrame, 60});
  EXPECT_TRUE(blame_.Refused("a").empty());
  EXPECT_EQ(Die(Crash(), Culprit::kInput), 1u);
}

TEST_F(BlameTest, ADeathThatIsNobodysFaultIsCountedForNobody) {
  WorkerDeath killed = Crash();
  killed.exit.value = SIGKILL;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Die(killed, Culprit::kNobody), 0u);
  EXPECT_TRUE(blame_.Refused("a").empty());
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
}

TEST_F(BlameTest, TheFifthBrokenProtocolQuarantinesTheBackendAsMisbehaved) {
  for (int i = 0; i < 4; ++i) Die(Lie(), Culprit::kBackend);
  EXPECT_TRUE(subject_.quarantines.empty());
  EXPECT_GT(blame_.BackoffLeft(), nanoseconds(0));
  Die(Lie(), Culprit::kBackend);
  ASSERT_EQ(subject_.quarantines.size(), 1u);
  EXPECT_EQ(subject_.quarantines[0].first, Code::kBackendMisbehaved);
  EXPECT_EQ(subject_.quarantines[0].second, "a worker broke the protocol");
  EXPECT_TRUE(blame_.Refused("a").empty());
}

TEST_F(BlameTest, ABrokenProtocolWithMediaRefusesNoInputAndNoBackend) {
  for (int i = 0; i < 2; ++i) Die(Crash("a"), Culprit::kInput);
  for (int i = 0; i < 5; ++i) Die(LieWithMedia("a"), Culprit::kBreach);
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
  EXPECT_TRUE(subject_.quarantines.empty());
  EXPECT_TRUE(blame_.Refused("a").empty());
  EXPECT_EQ(Die(Crash("a"), Culprit::kInput), 3u);
}

TEST_F(BlameTest, ABackendThatBreaksTheProtocolWithAnyInputIsTried) {
  for (const char* input : {"a", "b", "c"}) {
    Die(LieWithMedia(input), Culprit::kBreach);
  }
  EndCheck(kNoPicture);
  EndCheck(kNoPicture);
  Die(LieWithMedia("d"), Culprit::kBackend);
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 2u);
}

TEST_F(BlameTest, ADeathBeforeAnyMediaIsTheBackendsFailure) {
  WorkerDeath death = Crash();
  death.met_media = false;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Die(death, Culprit::kBackend), 0u);
  ASSERT_EQ(subject_.quarantines.size(), 1u);
  EXPECT_EQ(subject_.quarantines[0].first, Code::kBackendUnavailable);
  EXPECT_TRUE(subject_.quarantines[0].second.starts_with(
      "a worker died before it was given any media: "));
}

TEST_F(BlameTest, TheCounterOfStartsIsSeparateFromThatOfTheBackend) {
  for (int i = 0; i < 4; ++i) Die(Lie(), Culprit::kBackend);
  for (int i = 0; i < 4; ++i) {
    blame_.CountFailure(Culprit::kStart, Code::kBackendUnavailable, "start");
  }
  EXPECT_TRUE(subject_.quarantines.empty());
  blame_.CountFailure(Culprit::kStart, Code::kBackendUnavailable, "start");
  ASSERT_EQ(subject_.quarantines.size(), 1u);
  EXPECT_EQ(subject_.quarantines[0].second, "start");
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 4u);
}

TEST_F(BlameTest, AStartThatWasDeclinedBacksOffAndIsNeverQuarantined) {
  for (int i = 0; i < 100; ++i) blame_.CountDeclined();
  EXPECT_EQ(blame_.BackoffLeft(), limits_.restarts.longest_backoff);
  EXPECT_TRUE(subject_.quarantines.empty());
}

TEST_F(BlameTest, ABackoffEndsWithItsTime) {
  blame_.CountFailure(Culprit::kStart, Code::kBackendUnavailable, "start");
  EXPECT_EQ(blame_.BackoffLeft(), limits_.restarts.first_backoff);
  subject_.now += limits_.restarts.first_backoff;
  EXPECT_EQ(blame_.BackoffLeft(), nanoseconds(0));
}

TEST_F(BlameTest, AHealthyTimeForgivesTheFailuresBeforeIt) {
  for (int i = 0; i < 4; ++i) Die(Lie(), Culprit::kBackend);
  blame_.BecameReady();
  subject_.now += limits_.restarts.healthy;
  Die(Lie(), Culprit::kBackend);
  EXPECT_TRUE(subject_.quarantines.empty());
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 1u);
}

TEST_F(BlameTest, SessionsThatLostADeviceTogetherCountOneLoss) {
  const WorkerDeath first = LossOfDevice();
  WorkerDeath second = LossOfDevice();
  second.input = "b";
  subject_.now += milliseconds(1);
  EXPECT_EQ(Die(first, Culprit::kDevice), 0u);
  EXPECT_EQ(Die(second, Culprit::kDevice), 0u);
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"), limits_.restarts.first_backoff);
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:1"), nanoseconds(0));
  subject_.now += limits_.restarts.first_backoff;
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
}

TEST_F(BlameTest, SessionsThatLostADeviceTogetherASecondTimeCountOneLossMore) {
  const WorkerDeath first = LossOfDevice();
  subject_.now += milliseconds(1);
  Die(first, Culprit::kDevice);
  subject_.now += milliseconds(1);
  const WorkerDeath second = LossOfDevice();
  WorkerDeath third = LossOfDevice();
  third.input = "b";
  subject_.now += milliseconds(1);
  Die(second, Culprit::kDevice);
  Die(third, Culprit::kDevice);
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"),
            2 * limits_.restarts.first_backoff);
}

TEST_F(BlameTest, ADeviceLostAgainAndAgainIsWaitedForLongestAndNotPunished) {
  for (int i = 0; i < 5; ++i) {
    subject_.now += milliseconds(1);
    Die(LossOfDevice(), Culprit::kDevice);
  }
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"), limits_.restarts.longest_backoff);
  EXPECT_TRUE(subject_.quarantines.empty());
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
  EXPECT_TRUE(blame_.Refused("a").empty());
}

TEST_F(BlameTest, ADeviceIsNotLostOnTheWordOfAWorkerWithMedia) {
  WorkerDeath claim = LossOfDevice();
  claim.exit.device_found_lost = false;
  EXPECT_EQ(Die(claim, Culprit::kInput), 1u);
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
}

TEST_F(BlameTest, AFrameOfADeviceForgivesItsLosses) {
  Die(LossOfDevice(), Culprit::kDevice);
  blame_.NoteFrame("acme:1", "a");
  EXPECT_GT(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
  blame_.NoteFrame("acme:0", "a");
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
}

TEST_F(BlameTest, AFrameOfAnotherInputForgivesNoLoss) {
  Die(LossOfDevice(), Culprit::kDevice);
  blame_.NoteFrame("acme:0", "b");
  EXPECT_GT(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
}

TEST_F(BlameTest, EveryInputThatLostTheDeviceHasToGetAFrame) {
  WorkerDeath other = LossOfDevice();
  other.input = "b";
  Die(LossOfDevice(), Culprit::kDevice);
  Die(other, Culprit::kDevice);
  blame_.NoteFrame("acme:0", "a");
  EXPECT_GT(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
  blame_.NoteFrame("acme:0", "b");
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
}

TEST_F(BlameTest, MoreInputsThanAreKeptAreForgivenByTimeAlone) {
  for (size_t i = 0; i < DeviceLosses::kMaxInputs + 1; ++i) {
    WorkerDeath death = LossOfDevice();
    death.input = std::to_string(i);
    Die(death, Culprit::kDevice);
  }
  for (size_t i = 0; i < DeviceLosses::kMaxInputs + 1; ++i) {
    blame_.NoteFrame("acme:0", std::to_string(i));
  }
  EXPECT_GT(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
}

TEST_F(BlameTest, ThreeInputsBeginATrialAndABackendThatDecodesIsAcquitted) {
  DieOfThreeInputs();
  ASSERT_EQ(subject_.checks, 1);
  EndCheck(Status());
  EXPECT_EQ(subject_.checks, 1);
  Die(Crash("d"), Culprit::kInput);
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
}

TEST_F(BlameTest, OneFailedCheckIsNotEnoughToConvict) {
  DieOfThreeInputs();
  EndCheck(kNoPicture);
  ASSERT_EQ(subject_.checks, 2);
  EndCheck(Status());
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
  Die(Crash("d"), Culprit::kInput);
}

TEST_F(BlameTest, ACheckThatLackedSomethingConvictsNobody) {
  const Status lacking(Code::kResourceExhausted, "there are no tasks");
  for (int i = 0; i < 3; ++i) {
    DieOfThreeInputs();
    EndCheck(lacking);
    EndCheck(lacking);
  }
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
  Die(Crash("d"), Culprit::kInput);
}

TEST_F(BlameTest, AConvictedBackendPaysAndItsInputsAreForgiven) {
  for (int i = 0; i < 2; ++i) Die(Crash("a"), Culprit::kInput);
  Convict();
  EXPECT_TRUE(blame_.Refused("a").empty());
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 1u);
  for (int i = 0; i < 4; ++i) Die(Crash("d"), Culprit::kBackend);
  ASSERT_EQ(subject_.quarantines.size(), 1u);
  EXPECT_TRUE(subject_.quarantines[0].second.starts_with(
      "its workers die of any media"));
}

TEST_F(BlameTest, AFrameAcquitsAConvictedBackend) {
  Convict();
  blame_.NoteFrame("acme:0", "a");
  Die(Crash("d"), Culprit::kInput);
}

TEST_F(BlameTest, AFrameDuringATrialIsTheBetterEvidence) {
  DieOfThreeInputs();
  blame_.NoteFrame("acme:0", "a");
  EndCheck(kNoPicture);
  EndCheck(kNoPicture);
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
}

TEST_F(BlameTest, ABackendThatIsGoingAwayIsNotConvicted) {
  DieOfThreeInputs();
  subject_.can_be_tried = false;
  EndCheck(kNoPicture);
  EndCheck(kNoPicture);
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
}

TEST_F(BlameTest, AQuarantineEndsWithItsRecord) {
  blame_.RecordQuarantine(Code::kBackendMisbehaved, "it lied");
  EXPECT_FALSE(blame_.QuarantineIsOver());
  loop_.run();
  const auto record = records_.Find(tree_ / "acme.so");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->hash, "sha256=abc");
  EXPECT_EQ(record->code, Code::kBackendMisbehaved);
  EXPECT_EQ(record->reason, "it lied");
  EXPECT_FALSE(blame_.QuarantineIsOver());
  ASSERT_TRUE(records_.Lift(record->path).ok());
  EXPECT_TRUE(blame_.QuarantineIsOver());
}

TEST_F(BlameTest, AQuarantineOfFilesThatHaveChangedHasNoRecord) {
  subject_.hash = kNoPicture;
  blame_.RecordQuarantine(Code::kBackendUnavailable, "it died");
  loop_.run();
  EXPECT_FALSE(records_.Find(tree_ / "acme.so"));
  EXPECT_FALSE(blame_.QuarantineIsOver());
}

TEST_F(BlameTest, WithoutADirectoryAQuarantineDoesNotEndByItself) {
  QuarantineRecords nowhere("");
  Blame blame(subject_, limits_, nowhere, [] { return 0.0; });
  blame.RecordQuarantine(Code::kBackendUnavailable, "it died");
  loop_.run();
  EXPECT_FALSE(blame.QuarantineIsOver());
}

TEST_F(BlameTest, ARecordThatWasFoundIsNotWrittenAnew) {
  blame_.AdoptRecord();
  EXPECT_TRUE(blame_.QuarantineIsOver());
  blame_.RecordQuarantine(Code::kBackendUnavailable, "it died");
  loop_.run();
  EXPECT_FALSE(records_.Find(tree_ / "acme.so"));
}

TEST_F(BlameTest, ForgivingIsAFreshStartForEveryCounter) {
  for (int i = 0; i < 3; ++i) Die(Crash(), Culprit::kInput);
  for (int i = 0; i < 4; ++i) Die(Lie(), Culprit::kBackend);
  Die(LossOfDevice(), Culprit::kDevice);
  blame_.RecordQuarantine(Code::kBackendUnavailable, "it died");
  loop_.run();
  blame_.Forgive();
  EXPECT_TRUE(blame_.Refused("a").empty());
  EXPECT_EQ(blame_.failures(Culprit::kBackend), 0u);
  EXPECT_EQ(blame_.BackoffLeft(), nanoseconds(0));
  EXPECT_EQ(blame_.DeviceTimeLeft("acme:0"), nanoseconds(0));
  EXPECT_FALSE(records_.Find(tree_ / "acme.so"));
  EXPECT_FALSE(blame_.QuarantineIsOver());
}

TEST_F(BlameTest, ForgivingStopsARecordThatIsBeingMade) {
  blame_.RecordQuarantine(Code::kBackendUnavailable, "it died");
  blame_.Forgive();
  loop_.run();
  EXPECT_FALSE(records_.Find(tree_ / "acme.so"));
}

TEST_F(BlameTest, ForgivingAcquitsAConvictedBackend) {
  Convict();
  blame_.Forgive();
  Die(Crash("d"), Culprit::kInput);
}

}  // namespace
}  // namespace bulkhead::blame
