// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/side_thread.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace bulkhead::worker {
namespace {

TEST(SideThread, RunsATaskBesideItsOwner) {
  SideThread beside;
  std::promise<std::thread::id> ran;
  beside.Begin([&] { ran.set_value(std::this_thread::get_id()); });
  // Waits for the task without finishing it.
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
  beside.Finish();
}

TEST(SideThread, FinishReturnsOnceTheTaskHasRun) {
  SideThread beside;
  beside.Finish();
  int sum = 0;
  for (int i = 1; i <= 10'000; ++i) {
    beside.Begin([&sum, i] { sum += i; });
    if (i % 3 == 0) std::this_thread::yield();
    beside.Finish();
    ASSERT_EQ(sum, i * (i + 1) / 2);
  }
  beside.Finish();
}

TEST(SideThread, FinishRunsATaskThatWasNotBegun) {
  SideThread beside;
  // The thread is busy with a task of another owner's making: it waits here.
  std::promise<void> begun;
  std::promise<void> go_on;
  beside.Begin([&] {
    begun.set_value();
    go_on.get_future().wait();
  });
  begun.get_future().wait();
  std::thread later([&] { go_on.set_value(); });
  beside.Finish();
  later.join();

  bool ran = false;
  beside.Begin([&] { ran = true; });
  beside.Finish();
  EXPECT_TRUE(ran);
}

TEST(SideThread, ATaskThatIsNotFinishedRunsBeforeTheEnd) {
  bool ran = false;
  {
    SideThread beside;
    beside.Begin([&] { ran = true; });
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace bulkhead::worker
