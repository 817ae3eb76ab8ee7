// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/memory_limit.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "ipc/testing/forked_child.h"

namespace bulkhead::sandbox {
namespace {

constexpr rlim_t kMost = rlim_t{1} << 30;

// Starts a process under `limit`, or under the limits of this process.
ipc::ForkedChild StartLimited(__rlimit_resource resource,
                              const std::optional<rlimit>& limit) {
  return ipc::ForkedChild::Prepared([&] {
    if (limit && setrlimit(resource, &*limit) != 0) _exit(1);
  });
}

struct Case {
  __rlimit_resource resource;
  MemoryLimits (*limits)(uint64_t bytes);
};

class MemoryLimitTest : public testing::TestWithParam<Case> {
 protected:
  ipc::ForkedChild Start(const std::optional<rlimit>& limit) {
    return StartLimited(GetParam().resource, limit);
  }
  Code Check(const ipc::ForkedChild& process, uint64_t bytes) {
    return CheckMemoryLimits(process.pidfd(), GetParam().limits(bytes)).code();
  }
};

TEST_P(MemoryLimitTest, AProcessWithThatLimitIsFine) {
  const ipc::ForkedChild process = Start({{kMost, kMost}});
  EXPECT_EQ(Check(process, kMost), Code::kOk);
  EXPECT_EQ(Check(process, kMost + 1), Code::kOk);
}

TEST_P(MemoryLimitTest, MoreIsRefused) {
  const ipc::ForkedChild process = Start({{kMost, kMost}});
  EXPECT_EQ(Check(process, kMost - 1), Code::kSandboxUnavailable);
}

TEST_P(MemoryLimitTest, ALimitThatCanBeRaisedIsRefused) {
  for (const rlim_t hard : {kMost + 4096, RLIM_INFINITY}) {
    const ipc::ForkedChild process = Start({{kMost, hard}});
    EXPECT_EQ(Check(process, kMost), Code::kSandboxUnavailable) << hard;
  }
}

TEST_P(MemoryLimitTest, NoLimitIsRefused) {
  rlimit own = {};
  getrlimit(GetParam().resource, &own);
  if (own.rlim_max != RLIM_INFINITY) GTEST_SKIP() << "this process has one";
  const ipc::ForkedChild process = Start(std::nullopt);
  EXPECT_EQ(Check(process, UINT64_MAX), Code::kSandboxUnavailable);
}

TEST_P(MemoryLimitTest, AProcessThatEndedIsLost) {
  ipc::ForkedChild process = Start({{kMost, kMost}});
  process.Kill();
  EXPECT_EQ(Check(process, kMost), Code::kBackendLost);
}

INSTANTIATE_TEST_SUITE_P(
    Resources, MemoryLimitTest,
    testing::Values(Case{RLIMIT_DATA,
                         [](uint64_t bytes) {
                           return MemoryLimits{.data_bytes = bytes};
                         }},
                    Case{RLIMIT_AS,
                         [](uint64_t bytes) {
                           return MemoryLimits{.address_bytes = bytes};
                         }}),
    [](const auto& resource) {
      return resource.param.resource == RLIMIT_DATA ? "Data" : "AddressSpace";
    });

// Starts a process that has mapped `bytes` and touched none of them.
ipc::ForkedChild StartWith(size_t bytes) {
  return ipc::ForkedChild::Prepared([&] {
    if (mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0) == MAP_FAILED) {
      _exit(1);
    }
  });
}

constexpr LoadedMemory kAnything{.most_bytes = uint64_t{1} << 40};
constexpr LoadedMemory kAnythingOnDevices{.most_bytes = uint64_t{1} << 40,
                                          .maps_devices = true};
constexpr LoadedMemory kLittle{.most_bytes = uint64_t{1} << 30};

TEST(LimitsForTest, AddWhatIsAllowedToWhatTheZygoteHas) {
  ipc::ForkedChild zygote = StartLimited(RLIMIT_DATA, std::nullopt);
  const MemoryAllowance allowance{.private_bytes = 1000, .shared_bytes = 500};
  const MemoryLimits limits = LimitsFor(zygote.pidfd(), allowance, kAnything);
  EXPECT_GT(limits.data_bytes, 1000u);
  EXPECT_GT(limits.address_bytes, limits.data_bytes + kReservedBytes);
  const MemoryLimits twice = LimitsFor(
      zygote.pidfd(), {.private_bytes = 2000, .shared_bytes = 1000}, kAnything);
  EXPECT_EQ(twice.data_bytes, limits.data_bytes + 1000);
  EXPECT_EQ(twice.address_bytes, limits.address_bytes + 1500);
  EXPECT_EQ(
      LimitsFor(zygote.pidfd(), allowance, kAnythingOnDevices).address_bytes,
      0u);
  EXPECT_EQ(LimitsFor(zygote.pidfd(), {}, kAnything).data_bytes, 0u);
  zygote.Kill();
  EXPECT_EQ(LimitsFor(zygote.pidfd(), allowance, kAnything).data_bytes, 1000u);
}

TEST(LimitsForTest, TheGreatestAllowanceDoesNotOverflow) {
  const ipc::ForkedChild zygote = StartLimited(RLIMIT_DATA, std::nullopt);
  const MemoryLimits limits =
      LimitsFor(zygote.pidfd(), {UINT64_MAX, UINT64_MAX}, kAnything);
  EXPECT_GT(limits.data_bytes, uint64_t{1} << 60);
  EXPECT_GT(limits.address_bytes, limits.data_bytes);
}

TEST(LimitsForTest, WhatAZygoteHasBeyondItsBoundDoesNotCount) {
  const ipc::ForkedChild zygote = StartWith(size_t{3} << 30);
  const MemoryLimits limits =
      LimitsFor(zygote.pidfd(), {.private_bytes = 1000}, kLittle);
  EXPECT_EQ(limits.data_bytes, kLittle.most_bytes + 1000);
  EXPECT_EQ(limits.address_bytes, kLittle.most_bytes + 1000 + kReservedBytes);
}

TEST(LoadedTest, AZygoteThatMappedMuchIsRefusedAndToldWhatToDo) {
  const ipc::ForkedChild honest = StartWith(4096);
  EXPECT_TRUE(CheckLoaded(honest.pidfd(), kLittle).ok());
  const ipc::ForkedChild hostile = StartWith(size_t{3} << 30);
  const Status refused = CheckLoaded(hostile.pidfd(), kLittle);
  EXPECT_EQ(refused.code(), Code::kBackendUnavailable);
  EXPECT_NE(refused.message().find("the 1024 MiB"), std::string::npos)
      << refused;
  EXPECT_NE(refused.message().find("memory=N"), std::string::npos) << refused;
  EXPECT_TRUE(CheckLoaded(hostile.pidfd(), kAnything).ok());
}

TEST(LoadedTest, OnADeviceOnlyWhatCanBeWrittenCounts) {
  const LoadedMemory driver{.most_bytes = kLittle.most_bytes,
                            .maps_devices = true};
  const ipc::ForkedChild writable = StartWith(size_t{3} << 30);
  EXPECT_FALSE(CheckLoaded(writable.pidfd(), driver).ok());
  const ipc::ForkedChild reserved = ipc::ForkedChild::Prepared([] {
    if (mmap(nullptr, size_t{3} << 30, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0) == MAP_FAILED) {
      _exit(1);
    }
  });
  EXPECT_TRUE(CheckLoaded(reserved.pidfd(), driver).ok());
  EXPECT_FALSE(CheckLoaded(reserved.pidfd(), kLittle).ok());
}

// The limit is set after the memory was mapped, as in a clone.
TEST(CheckMemoryLimitsTest, AProcessThatAlreadyHasMoreIsRefused) {
  const ipc::ForkedChild worker = ipc::ForkedChild::Prepared([] {
    const rlimit limit = {kMost, kMost};
    if (mmap(nullptr, size_t{3} << 30, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0) == MAP_FAILED ||
        setrlimit(RLIMIT_DATA, &limit) != 0) {
      _exit(1);
    }
  });
  EXPECT_EQ(CheckMemoryLimits(worker.pidfd(), {.data_bytes = kMost}).code(),
            Code::kSandboxUnavailable);
}

}  // namespace
}  // namespace bulkhead::sandbox
