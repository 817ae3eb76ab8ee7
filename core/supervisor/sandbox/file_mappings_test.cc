// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/file_mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/supervisor/sandbox/testing/bpf_evaluator.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

constexpr uint32_t kRest = SECCOMP_RET_ERRNO | 77;
const std::vector<sock_filter> filter_below = {
    BPF_STMT(BPF_RET | BPF_K, kRest)};

uint32_t Errno(int error) {
  return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error);
}

// A filter under test, asked for the answer to calls.
struct Filter {
  std::vector<sock_filter> program;

  uint32_t Call(int number, std::vector<uint64_t> arguments,
                uint32_t architecture = AUDIT_ARCH_X86_64) const {
    seccomp_data call = {.nr = number, .arch = architecture};
    std::ranges::copy(arguments, call.args);
    return EvaluateFilter(program, call);
  }
  uint32_t Futex(uint64_t address, uint64_t operation) const {
    return Call(SYS_futex, {address, operation, 1});
  }
};

TEST(FileMappingsTest, AreThoseOfFilesAndNotOfMemory) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const ipc::UniqueFd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  void* const mapped = mmap(nullptr, page, PROT_READ, MAP_PRIVATE, file.get(),
                            static_cast<off_t>(page));
  void* const memory = mmap(nullptr, page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  ASSERT_NE(memory, MAP_FAILED);
  const auto mappings = FileMappings(getpid());
  ASSERT_TRUE(mappings);
  const auto contains = [&](const void* pointer) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    return std::ranges::any_of(RangesOf(*mappings), [&](const auto& range) {
      return range.begin <= address && address < range.end;
    });
  };
  const int on_stack = 0;
  EXPECT_TRUE(contains(mapped));
  EXPECT_TRUE(contains(reinterpret_cast<const void*>(&printf)));
  // Of this program.
  EXPECT_TRUE(contains(reinterpret_cast<const void*>(&FileMappings)));
  EXPECT_FALSE(contains(memory));
  EXPECT_FALSE(contains(&on_stack));
  struct stat info = {};
  ASSERT_EQ(fstat(file.get(), &info), 0);
  const auto found = std::ranges::find_if(*mappings, [&](const auto& mapping) {
    return mapping.range.begin == reinterpret_cast<uint64_t>(mapped);
  });
  ASSERT_NE(found, mappings->end());
  EXPECT_EQ(found->inode, info.st_ino);
  EXPECT_EQ(found->offset, page);
  EXPECT_EQ(found->path, std::filesystem::read_symlink("/proc/self/exe"));
  munmap(mapped, page);
  munmap(memory, page);
}

TEST(FileMappingsTest, AProcessThatIsNotThereHasNone) {
  EXPECT_FALSE(FileMappings(0x3fffffff));
}

TEST(FileMappingsTest, AProcessThatHasEndedHasNoneBeforeItIsReaped) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t end = {};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT),
            0);
  const auto mappings = FileMappings(child);
  ASSERT_TRUE(mappings);
  EXPECT_TRUE(mappings->empty());
  waitpid(child, nullptr, 0);
}

TEST(KeptFromFilesTest, CallsOnFilesFailAndNoOthers) {
  // The first one crosses a border of 4 GiB.
  const std::vector<AddressRange> ranges = {
      {0x5'ffff'f000, 0x6'0000'2000},
      {0x7f00'0000'0000, 0x7f00'0001'0000},
      {0x7f00'0002'0000, 0x7f00'0002'1000}};
  const Filter filter{KeptFromFiles(ranges, filter_below)};
  std::vector<uint64_t> inside, outside = {0, ~uint64_t{0}};
  for (const auto& [begin, end] : ranges) {
    inside.insert(inside.end(), {begin, begin + 0x800, end - 1});
    outside.insert(outside.end(), {begin - 1, end});
  }
  for (const uint64_t address : inside) {
    EXPECT_EQ(filter.Futex(address, FUTEX_WAIT), Errno(EAGAIN)) << address;
    EXPECT_EQ(filter.Futex(address, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME),
              Errno(EAGAIN));
    EXPECT_EQ(filter.Futex(address, FUTEX_WAKE), Errno(EINVAL));
    EXPECT_EQ(filter.Futex(address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG), kRest);
    EXPECT_EQ(filter.Call(SYS_clone, {1, 2, 3, address}), Errno(EAGAIN));
    EXPECT_EQ(filter.Call(SYS_mremap, {address, 4096, 8192}), Errno(EPERM));
    EXPECT_EQ(filter.Call(SYS_read, {address}), kRest);
    EXPECT_EQ(filter.Call(SYS_futex, {address, FUTEX_WAKE}, AUDIT_ARCH_I386),
              kRest);
  }
  for (const uint64_t address : outside) {
    EXPECT_EQ(filter.Futex(address, FUTEX_WAIT), kRest) << address;
    EXPECT_EQ(filter.Futex(address, FUTEX_WAKE), kRest);
    EXPECT_EQ(filter.Call(SYS_clone, {address, address, address, address}),
              kRest);
    EXPECT_EQ(filter.Call(SYS_mremap, {address, 4096, 8192}), kRest);
  }
}

TEST(KeptFromFilesTest, TooManyRangesAreJoinedWhereTheyAreClosest) {
  std::vector<AddressRange> ranges;
  constexpr uint64_t kFar = uint64_t{1} << 32;
  for (uint64_t i = 1; i <= 5'000; ++i) {
    ranges.push_back({i * 0x3000, i * 0x3000 + 0x1000});
  }
  ranges.push_back({kFar, kFar + 0x1000});
  const Filter filter{KeptFromFiles(ranges, filter_below)};
  EXPECT_LE(filter.program.size(), size_t{BPF_MAXINSNS} / 2);
  for (const AddressRange& range : ranges) {
    ASSERT_EQ(filter.Futex(range.begin, FUTEX_WAKE), Errno(EINVAL));
  }
  EXPECT_EQ(filter.Futex(kFar - 1, FUTEX_WAKE), kRest);
  EXPECT_EQ(filter.Futex(kFar + 0x1000, FUTEX_WAKE), kRest);
}

TEST(KeptFromFilesTest, WithoutRangesNothingChanges) {
  const Filter filter{KeptFromFiles({}, filter_below)};
  EXPECT_EQ(filter.Futex(0x1000, FUTEX_WAKE), kRest);
}

}  // namespace
}  // namespace bulkhead::sandbox
