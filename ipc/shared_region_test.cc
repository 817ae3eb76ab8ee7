// SPDX-License-Identifier: Apache-2.0
#include "ipc/shared_region.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <utility>

#include "ipc/unique_fd.h"
#include "tests/support/rows.h"

namespace bulkhead::ipc {
namespace {

constexpr size_t kBytes = 64 * 1024;

void* TryMap(int fd, int protection) {
  return mmap(nullptr, kBytes, protection, MAP_SHARED, fd, 0);
}

UniqueFd Reopen(int fd, int flags) {
  return UniqueFd(
      open(("/proc/self/fd/" + std::to_string(fd)).c_str(), flags | O_CLOEXEC));
}

TEST(SharedRegionTest, WhatTheHostWritesTheWorkerReads) {
  auto owned = OwnedRegion::CreateWritable("test", kBytes);
  ASSERT_TRUE(owned);
  auto mapped = MappedRegion::Map(owned->fd(), /*writable=*/false, kBytes);
  ASSERT_TRUE(mapped);
  ASSERT_EQ(mapped->bytes().size(), kBytes);
  owned->writable_bytes()[kBytes - 1] = std::byte{42};
  EXPECT_EQ(mapped->bytes()[kBytes - 1], std::byte{42});
  EXPECT_TRUE(mapped->writable_bytes().empty());
}

TEST(SharedRegionTest, WhatTheWorkerWritesTheHostReads) {
  auto owned = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_TRUE(owned);
  EXPECT_TRUE(owned->writable_bytes().empty());
  auto mapped = MappedRegion::Map(owned->fd(), /*writable=*/true, kBytes);
  ASSERT_TRUE(mapped);
  mapped->writable_bytes()[0] = std::byte{42};
  EXPECT_EQ(owned->bytes()[0], std::byte{42});
}

TEST(SharedRegionTest, AMovedRegionKeepsItsMemory) {
  auto owned = OwnedRegion::CreateWritable("test", kBytes);
  ASSERT_TRUE(owned);
  OwnedRegion moved = *std::move(owned);
  moved.writable_bytes()[0] = std::byte{1};
  EXPECT_EQ(moved.bytes()[0], std::byte{1});
}

void ExpectPrivateMappings(const OwnedRegion& owned, MappedRegion& mapped) {
  auto one = owned.MapPrivate(kBytes / 2, kBytes / 2);
  auto other = owned.MapPrivate(kBytes / 2, kBytes / 2);
  ASSERT_TRUE(one && other);
  one->bytes()[0] = std::byte{42};
  EXPECT_EQ(owned.bytes()[kBytes / 2], std::byte{0});
  EXPECT_EQ(other->bytes()[0], std::byte{0});
  mapped.writable_bytes()[kBytes / 2] = std::byte{7};
  mapped.writable_bytes()[kBytes - 1] = std::byte{8};
  EXPECT_EQ(one->bytes()[0], std::byte{42});
  EXPECT_EQ(one->bytes().back(), std::byte{8});
  EXPECT_EQ(other->bytes()[0], std::byte{7});
  // Bytes that were written to a copy are not in a later one.
  for (int round = 0; round < 3; ++round) {
    auto later = owned.MapPrivate(kBytes / 2, kBytes / 2);
    ASSERT_TRUE(later);
    EXPECT_EQ(later->bytes()[0], std::byte{7});
    EXPECT_EQ(later->bytes().back(), std::byte{8});
    later->bytes()[0] = later->bytes().back() = std::byte{9};
  }
  EXPECT_EQ(owned.bytes()[kBytes / 2], std::byte{7});
}

TEST(SharedRegionTest, APrivateMappingKeepsItsWrites) {
  auto owned = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_TRUE(owned);
  auto mapped = MappedRegion::Map(owned->fd(), /*writable=*/true, kBytes);
  ASSERT_TRUE(mapped);
  ExpectPrivateMappings(*owned, *mapped);
}

TEST(SharedRegionTest, ATemplateMakesPrivateMappingsWithoutADescriptor) {
  auto owned = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_TRUE(owned);
  auto mapped = MappedRegion::Map(owned->fd(), /*writable=*/true, kBytes);
  ASSERT_TRUE(mapped);
  ASSERT_TRUE(owned->KeepTemplate());
  owned->CloseDescriptor();
  EXPECT_EQ(owned->fd(), -1);
  ExpectPrivateMappings(*owned, *mapped);
}

TEST(SharedRegionTest, WithoutDescriptorAndTemplateNothingIsMapped) {
  auto owned = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_TRUE(owned);
  owned->CloseDescriptor();
  const auto mapping = owned->MapPrivate(0, kBytes);
  ASSERT_FALSE(mapping);
  EXPECT_EQ(mapping.error().code, Code::kUnsupported);
}

TEST(SharedRegionTest, TheWorkerCannotWriteWhatTheHostWrites) {
  auto owned = OwnedRegion::CreateWritable("test", kBytes);
  ASSERT_TRUE(owned);
  const int fd = owned->fd();
  EXPECT_FALSE(MappedRegion::Map(fd, /*writable=*/true, kBytes));
  EXPECT_EQ(TryMap(fd, PROT_READ | PROT_WRITE), MAP_FAILED);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(pwrite(fd, "x", 1, 0), -1);
  EXPECT_NE(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096),
            0);
  // A second file description has no more rights than the seals leave.
  const UniqueFd again = Reopen(fd, O_RDWR);
  if (again) {
    EXPECT_EQ(TryMap(again.get(), PROT_READ | PROT_WRITE), MAP_FAILED);
  }
  void* readable = TryMap(fd, PROT_READ);
  ASSERT_NE(readable, MAP_FAILED);
  EXPECT_NE(mprotect(readable, kBytes, PROT_READ | PROT_WRITE), 0);
  EXPECT_NE(madvise(readable, kBytes, MADV_REMOVE), 0);
  munmap(readable, kBytes);
}

TEST(SharedRegionTest, NobodyCanResizeOrUnseal) {
  auto requests = OwnedRegion::CreateWritable("test", kBytes);
  auto replies = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_TRUE(requests && replies);
  for (const int fd : {requests->fd(), replies->fd()}) {
    const int cut = ftruncate(fd, 0);
    tests::ExpectOutcome(tests::Fault(29), "ftruncate", "EPERM",
                         cut == 0 ? "succeeds" : strerrorname_np(errno));
    EXPECT_NE(ftruncate(fd, 2 * kBytes), 0);
    EXPECT_NE(fallocate(fd, 0, 0, 2 * kBytes), 0);
    EXPECT_NE(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
    EXPECT_EQ(errno, EPERM);
  }
}

TEST(SharedRegionTest, PunchedHolesReadAsZerosInTheHost) {
  auto owned = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_TRUE(owned);
  auto mapped = MappedRegion::Map(owned->fd(), /*writable=*/true, kBytes);
  ASSERT_TRUE(mapped);
  mapped->writable_bytes()[0] = std::byte{42};
  ASSERT_EQ(fallocate(owned->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      0, kBytes),
            0);
  tests::ExpectOutcome(tests::Fault(30), "the byte in a hole", "0",
                       std::to_string(std::to_integer<int>(owned->bytes()[0])));
}

TEST(SharedRegionTest, DescriptorsAreCloseOnExec) {
  auto owned = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_TRUE(owned);
  EXPECT_EQ(fcntl(owned->fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(SharedRegionTest, UnsealedMemoryIsRefused) {
  const UniqueFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(fd.get(), kBytes), 0);
  EXPECT_FALSE(MappedRegion::Map(fd.get(), false, kBytes));
  ASSERT_EQ(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_GROW), 0);
  EXPECT_FALSE(MappedRegion::Map(fd.get(), false, kBytes));
  ASSERT_EQ(fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_TRUE(MappedRegion::Map(fd.get(), false, kBytes));
}

TEST(SharedRegionTest, WhatIsNoMemfdIsRefused) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(MappedRegion::Map(null.get(), false, 1));
  EXPECT_FALSE(MappedRegion::Map(-1, false, 1));
}

TEST(SharedRegionTest, MemorySmallerThanExpectedIsRefused) {
  auto owned = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_TRUE(owned);
  EXPECT_FALSE(MappedRegion::Map(owned->fd(), true, kBytes + 1));
}

TEST(SharedRegionTest, ImpossibleSizesAreErrors) {
  EXPECT_EQ(OwnedRegion::CreateWritable("test", 0).error().code,
            Code::kInvalidArgument);
  EXPECT_EQ(OwnedRegion::CreateReadable("test", 0).error().code,
            Code::kInvalidArgument);
}

TEST(SharedRegionTest, AFileSizeLimitIsAnErrorAndNoSignal) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = kBytes - 1;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto owned = OwnedRegion::CreateReadable("test", kBytes);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(owned);
  tests::ExpectOutcome(tests::Fault(32), "a region beyond the limit of files",
                       "kResourceExhausted",
                       owned.error().code == Code::kResourceExhausted
                           ? "kResourceExhausted"
                           : owned.error().message);
}

}  // namespace
}  // namespace bulkhead::ipc
