// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/device_stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace bulkhead::openreg {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong(20000);

// A kernel that runs until the test releases it.
class Gate {
 public:
  DeviceStream::Kernel kernel() {
    return [opened = opened_] { opened.wait(); };
  }
  void Open() { open_.set_value(); }

 private:
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

TEST(DeviceStreamTest, KernelsRunInTheOrderOfTheirLaunch) {
  DeviceStream stream;
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i) {
    stream.Launch([&order, i] { order.push_back(i); });
  }
  ASSERT_TRUE(stream.Synchronize(kLong));
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[i], i);
}

TEST(DeviceStreamTest, KernelsRunOnAThreadOfTheStream) {
  DeviceStream stream;
  std::thread::id executed;
  stream.Launch([&executed] { executed = std::this_thread::get_id(); });
  ASSERT_TRUE(stream.Synchronize(kLong));
  EXPECT_NE(executed, std::this_thread::get_id());
}

TEST(DeviceStreamTest, AHungKernelMakesSynchronizeGiveUp) {
  Gate gate;
  DeviceStream stream;
  stream.Launch(gate.kernel());
  // bound: the kernel hangs.
  EXPECT_FALSE(stream.Synchronize(milliseconds(1)));
  gate.Open();
  EXPECT_TRUE(stream.Synchronize(kLong));
}

TEST(DeviceStreamTest, DestructionRunsWhatWasLaunched) {
  int runs = 0;
  {
    DeviceStream stream;
    for (int i = 0; i < 10; ++i) stream.Launch([&runs] { ++runs; });
  }
  EXPECT_EQ(runs, 10);
}

}  // namespace
}  // namespace bulkhead::openreg
