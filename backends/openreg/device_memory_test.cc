// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/device_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace bulkhead::openreg {
namespace {

constexpr size_t kMiB = 1 << 20;

TEST(DeviceMemoryDeathTest, ReadingOutsideOfACopyFaults) {
  DeviceMemory memory(kMiB);
  auto allocation = memory.Allocate(100);
  ASSERT_TRUE(allocation);
  EXPECT_DEATH(
      { [[maybe_unused]] const uint8_t byte = *allocation->address(); }, "");
}

TEST(DeviceMemoryDeathTest, ReadingAfterACopyFaultsAgain) {
  DeviceMemory memory(kMiB);
  auto allocation = memory.Allocate(100);
  ASSERT_TRUE(allocation);
  ASSERT_TRUE(allocation->CopyFromHost(0, "abc", 3));
  EXPECT_DEATH(
      { [[maybe_unused]] const uint8_t byte = *allocation->address(); }, "");
}

TEST(DeviceMemoryDeathTest, AReusedRangeFaults) {
  DeviceMemory memory(kMiB);
  {
    auto first = memory.Allocate(100);
    ASSERT_TRUE(first && first->Open());
  }
  auto second = memory.Allocate(100);
  ASSERT_TRUE(second);
  EXPECT_DEATH({ [[maybe_unused]] const uint8_t byte = *second->address(); },
               "");
}

TEST(DeviceMemoryTest, WhatWasCopiedInComesBack) {
  DeviceMemory memory(kMiB);
  auto allocation = memory.Allocate(5000);
  ASSERT_TRUE(allocation);
  std::vector<uint8_t> in(5000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 7);
  ASSERT_TRUE(allocation->CopyFromHost(0, in.data(), in.size()));
  std::vector<uint8_t> out(4000);
  ASSERT_TRUE(allocation->CopyToHost(1000, out.data(), out.size()));
  EXPECT_EQ(std::memcmp(in.data() + 1000, out.data(), out.size()), 0);
}

TEST(DeviceMemoryTest, ACopyBeyondTheAllocationIsRefused) {
  DeviceMemory memory(kMiB);
  auto allocation = memory.Allocate(100);
  ASSERT_TRUE(allocation);
  uint8_t host[200] = {};
  EXPECT_FALSE(allocation->CopyFromHost(0, host, 101));
  EXPECT_FALSE(allocation->CopyFromHost(100, host, 1));
  EXPECT_FALSE(allocation->CopyToHost(SIZE_MAX, host, 2));
  EXPECT_TRUE(allocation->CopyToHost(99, host, 1));
}

TEST(DeviceMemoryTest, NeverHoldsMoreThanItsCapacity) {
  DeviceMemory memory(kMiB);
  auto half = memory.Allocate(kMiB / 2);
  ASSERT_TRUE(half);
  EXPECT_FALSE(memory.Allocate(kMiB / 2 + 1));
  EXPECT_TRUE(memory.Allocate(kMiB / 2));
  EXPECT_FALSE(memory.Allocate(SIZE_MAX));
  EXPECT_FALSE(memory.Allocate(0));
}

TEST(DeviceMemoryTest, KeptRangesMakeWayForOtherSizes) {
  DeviceMemory memory(kMiB);
  for (size_t bytes = kMiB; bytes > kMiB / 2; bytes -= 64 * 1024) {
    ASSERT_TRUE(memory.Allocate(bytes)) << bytes;
  }
  EXPECT_EQ(memory.in_use(), 0u);
}

TEST(DeviceMemoryTest, MovingFreesOnce) {
  DeviceMemory memory(kMiB);
  auto first = memory.Allocate(4096);
  auto second = memory.Allocate(8192);
  ASSERT_TRUE(first && second);
  *first = std::move(*second);
  EXPECT_EQ(memory.in_use(), 8192u);
  second.reset();
  EXPECT_EQ(memory.in_use(), 8192u);
  first.reset();
  EXPECT_EQ(memory.in_use(), 0u);
}

TEST(DeviceMemoryTest, ThreadsShareADevice) {
  DeviceMemory memory(4 * kMiB);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&memory, i] {
      for (int round = 0; round < 50; ++round) {
        auto allocation = memory.Allocate(4096 * (1 + round % 7));
        ASSERT_TRUE(allocation);
        const int in = i * 1000 + round;
        ASSERT_TRUE(allocation->CopyFromHost(8, &in, sizeof(in)));
        int out = 0;
        ASSERT_TRUE(allocation->CopyToHost(8, &out, sizeof(out)));
        ASSERT_EQ(in, out);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.in_use(), 0u);
}

}  // namespace
}  // namespace bulkhead::openreg
