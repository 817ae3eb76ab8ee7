// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "core/supervisor/records/kept_counts.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

namespace bulkhead::records {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using Kind = blame::ProcessExit::Kind;
using Seen = blame::HostObservation;

TEST(KeptCountsTest, AreKeptByName) {
  KeptCounts kept;
  BackendCounts& acme = kept.Of("acme");
  acme.frames = 3;
  kept.Of("other").frames = 4;
  EXPECT_EQ(&kept.Of("acme"), &acme);
  EXPECT_EQ(kept.Of("acme").frames, 3u);
  EXPECT_EQ(kept.all().at("other").backend, "other");
}

TEST(WorkerEndOfTest, TellsWhatHappened) {
  const struct {
    blame::ProcessExit exit;
    Seen observed;
    blame::Culprit culprit;
    WorkerEnd end;
  } rows[] = {
      // A worker that Bulkhead killed shows a SIGKILL as well.
      {{.kind = Kind::kSignaled, .value = SIGKILL},
       Seen::kMissedDeadline,
       blame::Culprit::kInput,
       WorkerEnd::kDeadline},
      {{.kind = Kind::kSignaled, .value = SIGKILL},
       Seen::kBrokeProtocol,
       blame::Culprit::kBreach,
       WorkerEnd::kProtocol},
      {{.kind = Kind::kSignaled, .value = SIGKILL},
       Seen::kDied,
       blame::Culprit::kNobody,
       WorkerEnd::kKilled},
      {{.kind = Kind::kSignaled, .value = SIGTERM},
       Seen::kDied,
       blame::Culprit::kNobody,
       WorkerEnd::kKilled},
      {{.kind = Kind::kSignaled, .value = SIGSEGV},
       Seen::kDied,
       blame::Culprit::kInput,
       WorkerEnd::kSignal},
      {{.kind = Kind::kViolation, .value = SIGSYS},
       Seen::kDied,
       blame::Culprit::kInput,
       WorkerEnd::kSandbox},
      {{.kind = Kind::kOutOfMemory},
       Seen::kDied,
       blame::Culprit::kInput,
       WorkerEnd::kMemory},
      {{.kind = Kind::kExited, .value = 7},
       Seen::kDied,
       blame::Culprit::kInput,
       WorkerEnd::kExit},
      {{.kind = Kind::kExited, .value = 7},
       Seen::kDied,
       blame::Culprit::kDevice,
       WorkerEnd::kDeviceLost},
      {{.kind = Kind::kExited, .value = 7},
       Seen::kDied,
       blame::Culprit::kBreach,
       WorkerEnd::kFailed},
      {{.kind = Kind::kUnknown},
       Seen::kDied,
       blame::Culprit::kNobody,
       WorkerEnd::kUnknown},
  };
  for (const auto& row : rows) {
    EXPECT_STREQ(
        WorkerEndName(WorkerEndOf(row.exit, row.observed, row.culprit)),
        WorkerEndName(row.end));
  }
}

TEST(DurationCountsTest, ABoundIsInclusive) {
  DurationCounts counts;
  AddTo(counts, nanoseconds(0));
  AddTo(counts, DurationCounts::kBounds[0]);
  AddTo(counts, DurationCounts::kBounds[0] + nanoseconds(1));
  AddTo(counts, DurationCounts::kBounds.back());
  AddTo(counts, DurationCounts::kBounds.back() + microseconds(1));
  EXPECT_EQ(counts.counts[0], 2u);
  EXPECT_EQ(counts.counts[1], 1u);
  EXPECT_EQ(counts.counts[DurationCounts::kBounds.size() - 1], 1u);
  EXPECT_EQ(counts.counts[DurationCounts::kBounds.size()], 1u);
  EXPECT_EQ(counts.sum,
            2 * (DurationCounts::kBounds[0] + DurationCounts::kBounds.back()) +
                microseconds(1));
}

}  // namespace
}  // namespace bulkhead::records
