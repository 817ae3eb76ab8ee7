// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/death_words.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

#include "core/include/bulkhead/host_options.h"

namespace bulkhead::session {
namespace {

const DeathAccount::GivenUp kPoisoned{Code::kPoisonedInput,
                                      "given up after 3 attempts"};

Status ErrorFor(const ExitReport& report, bool blamed = true,
                uint64_t worker_bytes = Limits().worker_bytes,
                const std::string& state_directory = "") {
  return GivenUpError(kPoisoned, "the worker died",
                      {.report = report, .blamed = blamed}, worker_bytes,
                      state_directory);
}

bool Says(const Status& error, const std::string& words) {
  return error.message().find(words) != std::string::npos;
}

TEST(GivenUpErrorTest, HasTheDeathTheReasonAndTheReport) {
  const Status error =
      ErrorFor({.kind = ExitReport::Kind::kExited, .value = 7, .crash = 12});
  EXPECT_EQ(error.code(), Code::kPoisonedInput);
  EXPECT_TRUE(Says(error, "the worker died; given up after 3 attempts"));
  EXPECT_TRUE(Says(error, "`bulkhead crashes show 12`"));
  ASSERT_NE(error.exit_report(), nullptr);
  EXPECT_EQ(error.exit_report()->value, 7);
}

TEST(GivenUpErrorTest, NamesTheMemoryOnlyIfAnAbortHadLessThanUsual) {
  const ExitReport aborted{.kind = ExitReport::Kind::kSignaled,
                           .value = SIGABRT};
  EXPECT_FALSE(Says(ErrorFor(aborted), "lacked memory"));
  EXPECT_TRUE(Says(ErrorFor(aborted, true, 4096), "lacked memory"));
  const ExitReport fault{.kind = ExitReport::Kind::kSignaled, .value = SIGSEGV};
  EXPECT_FALSE(Says(ErrorFor(fault, true, 4096), "lacked memory"));
}

TEST(GivenUpErrorTest, SaysThatABlamedDeathHasNoRecord) {
  const ExitReport unrecorded{.kind = ExitReport::Kind::kExited};
  const std::string directory = ::testing::TempDir();
  constexpr const char* kWords = "no record of it could be kept";
  const uint64_t bytes = Limits().worker_bytes;
  EXPECT_TRUE(Says(ErrorFor(unrecorded, true, bytes, directory), kWords));
  EXPECT_FALSE(Says(ErrorFor(unrecorded, false, bytes, directory), kWords));
  EXPECT_FALSE(Says(ErrorFor(unrecorded), kWords));
}

}  // namespace
}  // namespace bulkhead::session
