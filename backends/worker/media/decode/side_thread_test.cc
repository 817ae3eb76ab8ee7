// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/side_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

namespace bulkhead::worker::decode {
namespace {

TEST(SideThread, RunsBesideItsOwner) {
  std::promise<std::thread::id> ran;
  SideThread beside([&] { ran.set_value(std::this_thread::get_id()); });
  beside.Begin();
  // Waits for the run without finishing it.
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
  beside.Finish();
}

TEST(SideThread, FinishReturnsOnceTheTaskHasRun) {
  int runs = 0;  // unguarded, so that tsan sees a missing order
  SideThread beside([&] { ++runs; });
  beside.Finish();
  for (int i = 1; i <= 10'000; ++i) {
    beside.Begin();
    if (i % 3 == 0) std::this_thread::yield();
    beside.Finish();
    ASSERT_EQ(runs, i);
  }
  beside.Finish();
  EXPECT_EQ(runs, 10'000);
}

TEST(SideThread, FinishWaitsForARunThatHasBegun) {
  std::promise<void> begun;
  std::promise<void> go_on;
  bool ran = false;
  SideThread beside([&] {
    begun.set_value();
    go_on.get_future().wait();
    ran = true;
  });
  beside.Begin();
  begun.get_future().wait();
  std::thread later([&] { go_on.set_value(); });
  beside.Finish();
  EXPECT_TRUE(ran);
  later.join();
}

TEST(SideThread, ARunThatIsNotFinishedEndsBeforeTheThread) {
  bool ran = false;
  {
    SideThread beside([&] { ran = true; });
    beside.Begin();
  }
  EXPECT_TRUE(ran);
}

TEST(SideThread, DeathWaitsForTheRun) {
  std::promise<void> begun;
  std::promise<void> go_on;
  std::atomic<bool> ran = false;
  SideThread beside([&] {
    begun.set_value();
    go_on.get_future().wait();
    ran = true;
  });
  SideThread::AwaitBeforeDeath(std::chrono::hours(1));  // nothing handed over
  beside.Begin();
  begun.get_future().wait();
  // bound: the other thread waits for this one.
  SideThread::AwaitBeforeDeath(std::chrono::milliseconds(1));
  EXPECT_FALSE(ran) << "the wait has no end";
  std::thread other([] {
    SideThread::AwaitBeforeDeath(std::chrono::hours(1));  // of another thread
  });
  other.join();
  go_on.set_value();
  SideThread::AwaitBeforeDeath(std::chrono::hours(1));
  EXPECT_TRUE(ran);
  beside.Finish();
}

}  // namespace
}  // namespace bulkhead::worker::decode
