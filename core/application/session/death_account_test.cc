// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/death_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <string>

#include "ipc/testing/forked_child.h"

namespace bulkhead::session {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Step = Awaited::Step;

constexpr InputPosition kOpening{InputPosition::Step::kOpening};
constexpr InputPosition kScanning{InputPosition::Step::kScanning};

InputPosition At(uint64_t frame) {
  return {InputPosition::Step::kFrame, frame};
}

Limits ThreeAttemptsFiveRestarts() {
  Limits limits;
  limits.attempts_per_position = 3;
  limits.restarts_per_position = 5;
  return limits;
}

const supervisor_link::ExitVerdict kNobody{};
const supervisor_link::ExitVerdict kKilled{
    .report = {.kind = ExitReport::Kind::kSignaled, .value = SIGKILL}};
const supervisor_link::ExitVerdict kInput{.blamed = true,
                                          .input_to_blame = true};
const supervisor_link::ExitVerdict kDevice{.blamed = true,
                                           .device_to_blame = true};
const supervisor_link::ExitVerdict kBackend{.blamed = true};
const supervisor_link::ExitVerdict kLate{
    .report = {.kind = ExitReport::Kind::kDeadline},
    .blamed = true,
    .input_to_blame = true};

const supervisor_link::ExitVerdict kOutOfMemory{
    .report = {.kind = ExitReport::Kind::kOutOfMemory},
    .blamed = true,
    .input_to_blame = true};

class DeathAccountTest : public ::testing::Test {
 protected:
  // Returns how the attempts end if every worker dies in that way, and expects
  // them to end after `deaths`.
  DeathAccount::GivenUp DieUntilGivenUp(
      Code death, const supervisor_link::ExitVerdict& verdict,
      uint32_t deaths) {
    for (uint32_t died = 1; died <= 100; ++died) {
      EXPECT_EQ(account_.attempt(), died);
      if (const auto given_up = account_.Count(at_, death, verdict)) {
        EXPECT_EQ(died, deaths);
        return *given_up;
      }
    }
    ADD_FAILURE() << "never given up";
    return {};
  }

  void Want(uint64_t frame) {
    at_.wanted = frame;
    account_.Want(frame);
  }

  Awaited at_;
  DeathAccount account_{ThreeAttemptsFiveRestarts()};
};

TEST_F(DeathAccountTest, BeforeTheStreamIsOpenEveryStepIsAtItsOpening) {
  for (const Step step :
       {Step::kOpen, Step::kScan, Step::kNext, Step::kFrameAt}) {
    at_.asked = step;
    EXPECT_EQ(at_.position(), kOpening);
  }
}

TEST_F(DeathAccountTest, TheIndexIsScannedFor) {
  at_.asked = Step::kScan;
  Want(7);
  at_.opened = true;
  EXPECT_EQ(at_.position(), kScanning);
}

TEST_F(DeathAccountTest, FramesAreWaitedForByTheirNumber) {
  at_.opened = true;
  Want(7);
  for (const Step step : {Step::kOpen, Step::kNext, Step::kFrameAt}) {
    at_.asked = step;
    EXPECT_EQ(at_.position(), At(7));
  }
  EXPECT_EQ(at_.frame(), 7u);
}

TEST_F(DeathAccountTest, WithoutItsWorkerTheStreamIsOpenedAgain) {
  at_.asked = Step::kNext;
  at_.opened = true;
  Want(7);
  at_.opened = false;
  EXPECT_EQ(at_.position(), kOpening);
  at_.opened = true;
  EXPECT_EQ(at_.position(), At(7));
}

TEST_F(DeathAccountTest, AnInputThatKillsEachWorkerIsPoisoned) {
  const auto given_up = DieUntilGivenUp(Code::kBackendLost, kInput, 3);
  EXPECT_EQ(given_up.code, Code::kPoisonedInput);
  EXPECT_EQ(given_up.reason,
            "given up after 3 attempts, skip this file or try another backend");
}

TEST_F(DeathAccountTest, AWorkerThatIsLateEachTimeExceedsItsDeadline) {
  const auto given_up = DieUntilGivenUp(Code::kDeadlineExceeded, kLate, 3);
  EXPECT_EQ(given_up.code, Code::kDeadlineExceeded);
  EXPECT_EQ(given_up.reason,
            "given up after 3 attempts, raise that deadline, try another "
            "backend or skip the file");
}

TEST_F(DeathAccountTest, ALostDeviceIsNotTheFilesFault) {
  const auto given_up = DieUntilGivenUp(Code::kBackendLost, kDevice, 3);
  EXPECT_EQ(given_up.code, Code::kBackendLost);
  EXPECT_EQ(given_up.reason,
            "given up after 3 attempts, its device was lost: retry later or "
            "use another");
}

TEST_F(DeathAccountTest, ABackendThatDiesOfAnyMediaIsNotTheFilesFault) {
  const auto given_up = DieUntilGivenUp(Code::kBackendLost, kBackend, 3);
  EXPECT_EQ(given_up.code, Code::kBackendLost);
  EXPECT_EQ(given_up.reason, "given up after 3 attempts, try another backend");
}

TEST_F(DeathAccountTest, AWorkerThatLiesGetsNoSecondChance) {
  const auto given_up = DieUntilGivenUp(Code::kBackendMisbehaved, kInput, 1);
  EXPECT_EQ(given_up.code, Code::kBackendMisbehaved);
  EXPECT_EQ(given_up.reason, "report it to the vendor of the backend");
}

TEST_F(DeathAccountTest, ALieIsNoAttemptAtItsPosition) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(account_.Count(at_, Code::kBackendMisbehaved, kBackend));
  }
  EXPECT_FALSE(account_.blamed());
  DieUntilGivenUp(Code::kBackendLost, kInput, 3);
}

TEST_F(DeathAccountTest, DeathsThatAreNobodysFaultAreRestartedLonger) {
  const auto given_up = DieUntilGivenUp(Code::kBackendLost, kNobody, 6);
  EXPECT_EQ(given_up.code, Code::kBackendLost);
  EXPECT_EQ(given_up.reason, "given up after 6 restarts, retry");
  EXPECT_FALSE(account_.blamed());
}

TEST_F(DeathAccountTest, KillsForMemoryAreSoonGivenUp) {
  const auto given_up = DieUntilGivenUp(Code::kBackendLost, kKilled, 3);
  EXPECT_EQ(given_up.code, Code::kResourceExhausted);
  EXPECT_THAT(
      given_up.reason,
      AllOf(HasSubstr("given up after 3 such deaths"),
            HasSubstr("no memory left"), HasSubstr("--limit worker-bytes=N"),
            HasSubstr("--limit kills-per-position=N")));
  EXPECT_FALSE(account_.blamed());
}

TEST_F(DeathAccountTest, StopsFromOutsideAreNoCheaperThanKills) {
  const supervisor_link::ExitVerdict stopped{
      .report = {.kind = ExitReport::Kind::kDeadline, .value = SIGKILL}};
  const auto given_up = DieUntilGivenUp(Code::kDeadlineExceeded, stopped, 3);
  EXPECT_EQ(given_up.code, Code::kDeadlineExceeded);
  EXPECT_THAT(given_up.reason,
              AllOf(HasSubstr("another process stops its workers"),
                    HasSubstr("--limit kills-per-position=N")));
}

TEST_F(DeathAccountTest, OtherSignalsFromOutsideAreNoCheaperThanKills) {
  supervisor_link::ExitVerdict terminated = kKilled;
  terminated.report.value = SIGTERM;
  const auto given_up = DieUntilGivenUp(Code::kBackendLost, terminated, 3);
  EXPECT_EQ(given_up.code, Code::kBackendLost);
  EXPECT_THAT(given_up.reason,
              AllOf(HasSubstr("given up after 3 such deaths, since another "
                              "program sends its workers this signal"),
                    HasSubstr("--limit kills-per-position=N")));
  EXPECT_FALSE(account_.blamed());
}

TEST_F(DeathAccountTest, ACallThatTakesTooLongSaysWhatHelps) {
  const auto given_up =
      account_.Count(at_, Code::kBackendLost, kInput, /*overdue=*/true);
  ASSERT_TRUE(given_up);
  EXPECT_THAT(given_up->reason,
              HasSubstr("raise that deadline, try another backend or "
                        "skip the file"));
}

TEST_F(DeathAccountTest, OneAttemptIsNotSeveral) {
  Limits limits;
  limits.attempts_per_position = 1;
  Awaited at;
  const auto given_up =
      DeathAccount(limits).Count(at, Code::kBackendLost, kInput);
  ASSERT_TRUE(given_up);
  EXPECT_THAT(given_up->reason, HasSubstr("given up after 1 attempt,"));
}

TEST_F(DeathAccountTest, AWorkerOfSeveralSessionsMayBeKilledForMemoryToo) {
  supervisor_link::ExitVerdict shared = kOutOfMemory;
  shared.blamed = false;
  const auto given_up = DieUntilGivenUp(Code::kBackendLost, shared, 3);
  EXPECT_EQ(given_up.code, Code::kResourceExhausted);
}

TEST_F(DeathAccountTest, KillsBetweenFramesAreNotInARow) {
  for (int frame = 0; frame < 10; ++frame) {
    EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kKilled));
    EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kKilled));
    account_.Progressed();
  }
}

TEST_F(DeathAccountTest, AnInputThatFillsItsCgroupLacksMemory) {
  const auto given_up = DieUntilGivenUp(Code::kBackendLost, kOutOfMemory, 3);
  EXPECT_EQ(given_up.code, Code::kResourceExhausted);
  EXPECT_EQ(given_up.reason,
            "given up after 3 attempts, let it have more memory (bulkhead "
            "grant BACKEND memory=N) or skip the file");
}

TEST_F(DeathAccountTest, InnocentDeathsAreNoAttempts) {
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kNobody));
  }
  const auto given_up = account_.Count(at_, Code::kBackendLost, kInput);
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->code, Code::kPoisonedInput);
}

TEST_F(DeathAccountTest, DeathsOfOtherSessionsAtThePositionCountToo) {
  supervisor_link::ExitVerdict verdict = kInput;
  verdict.deaths_here = 3;
  const auto given_up = account_.Count(at_, Code::kBackendLost, verdict);
  ASSERT_TRUE(given_up);
  EXPECT_EQ(given_up->code, Code::kPoisonedInput);
  EXPECT_EQ(given_up->reason,
            "given up after 3 attempts, skip this file or try another backend");
}

TEST_F(DeathAccountTest, ADeliveredFrameForgetsAllDeaths) {
  for (int frame = 0; frame < 10; ++frame) {
    EXPECT_FALSE(account_.blamed());
    EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
    EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
    for (int i = 0; i < 5; ++i) {
      EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kNobody));
    }
    EXPECT_TRUE(account_.blamed());
    account_.Progressed();
    EXPECT_EQ(account_.attempt(), 1u);
  }
}

TEST_F(DeathAccountTest, ADeathOverTheFrameBehindCountsForThatFrame) {
  at_.opened = true;
  at_.asked = Step::kNext;
  Want(7);
  at_.ahead = true;
  EXPECT_EQ(at_.position(), At(8));
  EXPECT_EQ(at_.frame(), 8u);
  supervisor_link::ExitVerdict verdict = kInput;
  verdict.deaths_here = 3;  // at frame 8
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, verdict));
  EXPECT_EQ(at_.position(), At(7));
  EXPECT_EQ(account_.attempt(), 2u);
  account_.Progressed();
  EXPECT_FALSE(account_.blamed());
  // The delivery of the frame after acquits the input.
  Want(8);
  EXPECT_TRUE(account_.blamed());
  EXPECT_EQ(account_.attempt(), 2u);
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
  EXPECT_TRUE(account_.Count(at_, Code::kBackendLost, kInput));
  account_.Progressed();
  Want(8);
  EXPECT_FALSE(account_.blamed());
}

TEST_F(DeathAccountTest, AClaimToBeAheadIsAnAttemptOfTheStep) {
  at_.opened = true;
  at_.ahead = true;
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
  EXPECT_TRUE(account_.Count(at_, Code::kBackendLost, kInput));
}

TEST_F(DeathAccountTest, AKillAheadIsAKill) {
  at_.opened = true;
  Want(7);
  at_.ahead = true;
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kKilled));
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kKilled));
  EXPECT_TRUE(account_.Count(at_, Code::kBackendLost, kKilled));
  Want(8);
  EXPECT_FALSE(account_.blamed());
}

TEST_F(DeathAccountTest, AnotherWorkerIsNoProgress) {
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
  EXPECT_FALSE(account_.Count(at_, Code::kBackendLost, kInput));
  at_.opened = false;
  at_.opened = true;
  EXPECT_EQ(account_.attempt(), 3u);
  EXPECT_TRUE(account_.Count(at_, Code::kBackendLost, kInput));
}

// The limit cannot be raised again, so a child has it.
TEST(DeathAccountUnderALimit, OfProcessorTimeNamesItAndNotTheMemory) {
  ipc::ForkedChild child([] {
    const rlimit hour = {3'600, 3'600};
    if (::setrlimit(RLIMIT_CPU, &hour) != 0) return 2;
    Limits limits;
    limits.kills_per_position = 0;
    Awaited at;
    const auto given_up =
        DeathAccount(limits).Count(at, Code::kBackendLost, kKilled);
    const bool named =
        given_up && given_up->code == Code::kResourceExhausted &&
        given_up->reason.find("3600 s") != std::string::npos &&
        given_up->reason.find("(ulimit -t)") != std::string::npos;
    return named ? 0 : 1;
  });
  EXPECT_EQ(child.Wait(), 0);
}

}  // namespace
}  // namespace bulkhead::session
