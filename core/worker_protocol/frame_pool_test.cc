// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/frame_pool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

namespace bulkhead::worker_protocol {
namespace {

constexpr ipc::FrameGeometry kGeometry{
    .width = 16, .height = 16, .stride = 64, .bytes = 4096};

std::shared_ptr<FramePool> PoolOf(uint32_t slots) {
  return FramePool::Create(kGeometry, slots, 1 << 20,
                           FramePool::Slots::kAllocated)
      .value();
}

// Grants every free slot. Returns how many there were.
uint32_t GrantAll(FramePool& pool) {
  uint32_t slots = 0;
  while (pool.ledger().TakeForGrant()) ++slots;
  return slots;
}

ipc::SlotLedger::Grant Publish(FramePool& pool) {
  const auto grant = pool.ledger().TakeForGrant().value();
  EXPECT_TRUE(pool.ledger().Publish(grant.slot, grant.generation));
  return grant;
}

TEST(FramePoolTest, HasAsManySlotsAsWereAskedFor) {
  const auto pool = PoolOf(8);
  EXPECT_EQ(pool->slot_count(), 8u);
  EXPECT_EQ(pool->slot_bytes(), 4096u);
  EXPECT_EQ(GrantAll(*pool), 8u);
  struct stat file;
  ASSERT_EQ(::fstat(pool->fd(), &file), 0);
  EXPECT_EQ(file.st_size, 8 * 4096);
  EXPECT_EQ(pool->slot(7) - pool->slot(0), 7 * 4096);
}

TEST(FramePoolTest, HasOnlySlotsThatFitItsLimit) {
  const auto pool = FramePool::Create(kGeometry, 8, 3 * 4096 + 4095,
                                      FramePool::Slots::kAllocated);
  ASSERT_TRUE(pool) << pool.error();
  EXPECT_EQ((*pool)->slot_count(), 3u);
}

TEST(FramePoolTest, OfFewerThanTwoSlotsIsRefused) {
  EXPECT_TRUE(
      FramePool::Create(kGeometry, 2, 2 * 4096, FramePool::Slots::kAllocated));
  const auto no_room = FramePool::Create(kGeometry, 8, 2 * 4096 - 1,
                                         FramePool::Slots::kAllocated);
  ASSERT_FALSE(no_room);
  EXPECT_EQ(no_room.error().code(), Code::kResourceExhausted);
  EXPECT_FALSE(
      FramePool::Create(kGeometry, 8, 0, FramePool::Slots::kAllocated));
  for (const uint32_t slots : {0u, 1u}) {
    const auto too_few = FramePool::Create(kGeometry, slots, 1 << 20,
                                           FramePool::Slots::kAllocated);
    ASSERT_FALSE(too_few);
    // Not the session's bytes are to be raised.
    EXPECT_NE(too_few.error().message().find("frame_slots"), std::string::npos)
        << too_few.error();
  }
}

// Returns how many bytes of the pool's memory the kernel has allocated.
int64_t AllocatedBytes(const FramePool& pool) {
  struct stat status = {};
  EXPECT_EQ(fstat(pool.fd(), &status), 0);
  return int64_t{512} * status.st_blocks;
}

TEST(FramePoolTest, ThatGrowsAllocatesSlotsOneByOne) {
  const auto pool =
      FramePool::Create(kGeometry, 3, 1 << 20, FramePool::Slots::kGrowing)
          .value();
  EXPECT_EQ(pool->slot_count(), 3u);
  EXPECT_EQ(AllocatedBytes(*pool), 0);
  EXPECT_FALSE(pool->ledger().TakeForGrant());
  EXPECT_FALSE(pool->ledger().Publish(0, 0));
  for (uint32_t slot = 0; slot < 3; ++slot) {
    EXPECT_TRUE(pool->Grow().value());
    EXPECT_EQ(AllocatedBytes(*pool),
              static_cast<int64_t>((slot + 1) * pool->slot_bytes()));
    const auto grant = pool->ledger().TakeForGrant();
    ASSERT_TRUE(grant);
    EXPECT_EQ(grant->slot, slot);
    EXPECT_TRUE(pool->ledger().Publish(grant->slot, grant->generation));
  }
  EXPECT_FALSE(pool->Grow().value());
  EXPECT_FALSE(pool->ledger().TakeForGrant());
  EXPECT_EQ(pool->ledger().leased_count(), 3u);
}

TEST(FrameLeaseTest, GivesItsSlotBack) {
  const auto pool = PoolOf(2);
  {
    const FrameLease lease(pool, Publish(*pool).slot);
    EXPECT_EQ(pool->ledger().leased_count(), 1u);
  }
  EXPECT_EQ(GrantAll(*pool), 2u);
}

TEST(FrameLeaseTest, OutlivesItsPoolsOwner) {
  auto pool = PoolOf(2);
  const std::weak_ptr<FramePool> watch = pool;
  auto lease = std::make_unique<FrameLease>(pool, Publish(*pool).slot);
  pool.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(*lease->pixels(), std::byte{0});
  lease.reset();
  EXPECT_TRUE(watch.expired());
}

TEST(FrameLeaseTest, StaysLeasedWhenTheWorkersGrantsAreRevoked) {
  const auto pool = PoolOf(3);
  const FrameLease lease(pool, Publish(*pool).slot);
  ASSERT_TRUE(pool->ledger().TakeForGrant());
  pool->ledger().RevokeGrants();
  EXPECT_EQ(pool->ledger().leased_count(), 1u);
  EXPECT_EQ(GrantAll(*pool), 2u);
}

TEST(FrameLeaseTest, IsDestroyedOnAnyThread) {
  const auto pool = PoolOf(2);
  auto lease = std::make_unique<FrameLease>(pool, Publish(*pool).slot);
  std::thread([&] { lease.reset(); }).join();
  EXPECT_EQ(GrantAll(*pool), 2u);
}

TEST(FrameLeaseTest, InAPrivateMappingKeepsTheSlot) {
  const auto pool = PoolOf(2);
  const uint32_t slot = Publish(*pool).slot;
  auto lease = std::make_shared<const FrameLease>(pool, slot);
  EXPECT_TRUE(lease->in_slot());
  auto mapping = lease->MapPrivate();
  ASSERT_TRUE(mapping) << mapping.error();
  auto mapped =
      std::make_unique<FrameLease>(std::move(lease), *std::move(mapping));
  EXPECT_FALSE(mapped->in_slot());
  EXPECT_EQ(pool->ledger().leased_count(), 1u);
  const_cast<std::byte&>(*mapped->pixels()) = std::byte{42};
  EXPECT_EQ(*pool->slot(slot), std::byte{0});
  mapped.reset();
  EXPECT_EQ(GrantAll(*pool), 2u);
}

TEST(FrameLeaseTest, OfItsOwnMemoryNeedsNoPool) {
  const FrameLease lease(std::vector<std::byte>(3, std::byte{7}));
  EXPECT_EQ(lease.pixels()[2], std::byte{7});
}

}  // namespace
}  // namespace bulkhead::worker_protocol
