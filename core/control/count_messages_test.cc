// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "core/control/count_messages.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace bulkhead {
namespace {

namespace schema = ipc::schema;

TEST(CountMessages, SayWhatWasCounted) {
  BackendCounts counts{.backend = "acme",
                       .starts = 1,
                       .quarantines = 2,
                       .streams = 3,
                       .frames = UINT64_MAX,
                       .session_time = std::chrono::milliseconds(5),
                       .poisoned_inputs = 6,
                       .refused_streams = 7,
                       .failovers = 8,
                       .failed_failovers = 9};
  for (size_t i = 0; i < kWorkerEnds; ++i) counts.worker_ends[i] = 10 + i;
  auto& recoveries = counts.recoveries;
  for (size_t i = 0; i < recoveries.counts.size(); ++i) {
    recoveries.counts[i] = 30 + i;
  }
  recoveries.sum = std::chrono::microseconds(50);
  capnp::MallocMessageBuilder message;
  const auto out = message.initRoot<schema::BackendCounts>();
  Write(counts, out);
  const auto read = ToBackendCounts(out);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->backend, counts.backend);
  EXPECT_EQ(read->starts, counts.starts);
  EXPECT_EQ(read->quarantines, counts.quarantines);
  EXPECT_EQ(read->streams, counts.streams);
  EXPECT_EQ(read->frames, counts.frames);
  EXPECT_EQ(read->session_time, counts.session_time);
  EXPECT_EQ(read->worker_ends, counts.worker_ends);
  EXPECT_EQ(read->recoveries.counts, recoveries.counts);
  EXPECT_EQ(read->recoveries.sum, recoveries.sum);
  EXPECT_EQ(read->poisoned_inputs, counts.poisoned_inputs);
  EXPECT_EQ(read->refused_streams, counts.refused_streams);
  EXPECT_EQ(read->failovers, counts.failovers);
  EXPECT_EQ(read->failed_failovers, counts.failed_failovers);
}

// Each case spoils one member of a message that is good.
TEST(CountMessages, OfAnotherShapeAreRefused) {
  void (*const spoilt[])(schema::BackendCounts::Builder) = {
      [](auto out) { out.initWorkerEnds(kWorkerEnds - 1); },
      [](auto out) { out.initWorkerEnds(kWorkerEnds + 1); },
      [](auto out) { out.initRecoveries(0); },
      [](auto out) { out.initRecoveries(1'000); },
      [](auto out) { out.setSessionMs(-1); },
      [](auto out) { out.setRecoveryUs(-1); },
  };
  for (const auto spoil : spoilt) {
    capnp::MallocMessageBuilder message;
    const auto out = message.initRoot<schema::BackendCounts>();
    Write(BackendCounts(), out);
    ASSERT_TRUE(ToBackendCounts(out));
    spoil(out);
    EXPECT_FALSE(ToBackendCounts(out));
  }
}

TEST(WorkerEnds, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (size_t i = 0; i < kWorkerEnds; ++i) {
    names.insert(WorkerEndName(static_cast<WorkerEnd>(i)));
  }
  EXPECT_EQ(names.size(), kWorkerEnds);
  EXPECT_STREQ(WorkerEndName(WorkerEnd::kUnknown), "unknown");
  EXPECT_STREQ(WorkerEndName(static_cast<WorkerEnd>(200)), "unknown");
}

}  // namespace
}  // namespace bulkhead
