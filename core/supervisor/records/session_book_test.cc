// SPDX-License-Identifier: Apache-2.0
//
// bound: nothing waits here, the test makes the times up.
#include "core/supervisor/records/session_book.h"

#include <gtest/gtest.h>

#include <chrono>

#include "core/control/session_counters.h"
#include "core/supervisor/testing/test_loop.h"
#include "ipc/shared_region.h"

namespace bulkhead::records {
namespace {

using std::chrono::milliseconds;
using Time = SessionBook::Time;

constexpr Time kStart{std::chrono::seconds(100)};

// A book of a host that counts its sessions.
class SessionBookTest : public testing::Test {
 protected:
  SessionBookTest() {
    counters_.Set(
        *ipc::MappedRegion::Map(region_.fd(), /*writable=*/false, kBytes));
  }
  // kj's destructors may throw, and a test fixture's may not.
  ~SessionBookTest() noexcept override {}

  void Deliver(uint32_t place, uint64_t frames) {
    reinterpret_cast<SessionCounter*>(region_.writable_bytes().data())[place]
        .frames += frames;
  }
  // What a new stream of the host does to the place that it takes over.
  void Reset(uint32_t place) {
    reinterpret_cast<SessionCounter*>(region_.writable_bytes().data())[place]
        .frames = 0;
  }
  void Add(uint64_t id, uint32_t place, bool replayed, Time now) {
    book_.Add(id, "acme:0",
              {.input = "", .path = "", .counter = place, .replayed = replayed},
              now);
  }
  void Lose(uint64_t id, Time now) { book_.NoteWorkerEnd(id, {}, "", now); }
  BackendCounts CountsAt(Time now) const {
    BackendCounts counts = counts_;
    book_.AddOpen(counts, now);
    return counts;
  }

  static constexpr size_t kBytes = kMaxCountedSessions * sizeof(SessionCounter);
  supervisor::TestLoop loop_;
  ipc::OwnedRegion region_ =
      *ipc::OwnedRegion::CreateWritable("counters", kBytes);
  HostCounters counters_;
  EventLog events_;
  BackendCounts counts_{.backend = "acme"};
  SessionBook book_{counters_, events_, counts_};
};

TEST_F(SessionBookTest, CountsOpenAndClosedStreams) {
  Add(1, 0, false, kStart);
  Add(2, 1, false, kStart);
  Deliver(0, 10);
  Deliver(1, 1);
  EXPECT_EQ(CountsAt(kStart).frames, 11u);
  (void)book_.TakeNewFrames();
  EXPECT_EQ(CountsAt(kStart).frames, 11u);
  Deliver(0, 5);
  book_.Remove(1, kStart + milliseconds(300));
  const BackendCounts counts = CountsAt(kStart + milliseconds(500));
  EXPECT_EQ(counts.frames, 16u);
  EXPECT_EQ(counts.streams, 2u);
  EXPECT_EQ(counts.session_time, milliseconds(800));
}

TEST_F(SessionBookTest, TheSessionsOfOneStreamCountItsFramesOnce) {
  Add(1, 0, false, kStart);
  Deliver(0, 10);
  Lose(1, kStart + milliseconds(1'000));
  Deliver(0, 2);  // from what the worker had left
  Add(2, 0, true, kStart + milliseconds(1'030));
  Deliver(0, 3);
  (void)book_.TakeNewFrames();
  book_.Remove(1, kStart + milliseconds(1'040));
  Deliver(0, 4);
  const BackendCounts counts = CountsAt(kStart + milliseconds(2'000));
  EXPECT_EQ(counts.frames, 19u);
  EXPECT_EQ(counts.streams, 1u);
  EXPECT_EQ(counts.recoveries.sum, milliseconds(30));
  EXPECT_EQ(counts.recoveries.counts[4], 1u) << "up to 50 ms";
}

TEST_F(SessionBookTest, AStreamThatGivesUpDoesNotRecover) {
  Add(1, 0, false, kStart);
  Lose(1, kStart);
  book_.Remove(1, kStart);
  Add(2, 0, false, kStart + milliseconds(10));
  const BackendCounts counts = CountsAt(kStart + milliseconds(10));
  EXPECT_EQ(counts.recoveries.counts, DurationCounts().counts);
  EXPECT_EQ(counts.streams, 2u);
}

TEST_F(SessionBookTest, AnotherStreamsFramesAreNotThoseOfAStreamThatIsClosing) {
  Add(1, 0, false, kStart);
  Deliver(0, 10);
  (void)book_.TakeNewFrames();
  Reset(0);
  Deliver(0, 2);
  book_.Remove(1, kStart);
  EXPECT_EQ(CountsAt(kStart).frames, 10u);
}

TEST_F(SessionBookTest, StreamsBeyondTheCountersAreNotOneStream) {
  Add(1, kMaxCountedSessions, false, kStart);
  Lose(1, kStart);
  Add(2, kMaxCountedSessions, false, kStart);
  const BackendCounts counts = CountsAt(kStart);
  EXPECT_EQ(counts.recoveries.counts, DurationCounts().counts);
  EXPECT_EQ(counts.frames, 0u);
  EXPECT_EQ(counts.streams, 2u);
}

}  // namespace
}  // namespace bulkhead::records
