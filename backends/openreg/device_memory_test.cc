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

// Opens the range and closes it again. Returns its address.
const volatile uint8_t* Visit(DeviceAllocation& allocation) {
  const auto access = allocation.Open();
  return access ? access->data() : nullptr;
}

TEST(DeviceMemoryDeathTest, ReadingOutsideOfAnAccessFaults) {
  DeviceMemory memory(kMiB);
  auto allocation = memory.Allocate(100);
  ASSERT_TRUE(allocation);
  const volatile uint8_t* address = Visit(*allocation);
  ASSERT_NE(address, nullptr);
  EXPECT_DEATH({ [[maybe_unused]] const uint8_t byte = *address; }, "");
}

TEST(DeviceMemoryDeathTest, AReusedRangeFaults) {
  DeviceMemory memory(kMiB);
  const volatile uint8_t* address = nullptr;
  {
    auto first = memory.Allocate(100);
    ASSERT_TRUE(first);
    address = Visit(*first);
  }
  auto second = memory.Allocate(100);
  ASSERT_TRUE(second);
  EXPECT_DEATH({ [[maybe_unused]] const uint8_t byte = *address; }, "");
  EXPECT_EQ(Visit(*second), address);
}

TEST(DeviceMemoryTest, AnAccessSeesWhatTheOneBeforeWrote) {
  DeviceMemory memory(kMiB);
  auto allocation = memory.Allocate(5000);
  ASSERT_TRUE(allocation);
  std::vector<uint8_t> in(5000);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 7);
  std::memcpy(allocation->Open().value().data(), in.data(), in.size());
  const auto access = allocation->Open();
  ASSERT_TRUE(access);
  EXPECT_EQ(std::memcmp(access->data(), in.data(), in.size()), 0);
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
  EXPECT_TRUE(memory.Allocate(kMiB));
}

TEST(DeviceMemoryTest, MovingFreesOnce) {
  DeviceMemory memory(3 * 4096);
  auto first = memory.Allocate(4096);
  auto second = memory.Allocate(8192);
  ASSERT_TRUE(first && second);
  *first = std::move(*second);
  EXPECT_TRUE(memory.Allocate(4096));
  EXPECT_FALSE(memory.Allocate(8192));
  second.reset();
  EXPECT_FALSE(memory.Allocate(8192));
  first.reset();
  EXPECT_TRUE(memory.Allocate(3 * 4096));
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
        std::memcpy(allocation->Open().value().data(), &in, sizeof(in));
        int out = 0;
        std::memcpy(&out, allocation->Open().value().data(), sizeof(out));
        ASSERT_EQ(in, out);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(memory.Allocate(4 * kMiB));
}

}  // namespace
}  // namespace bulkhead::openreg
