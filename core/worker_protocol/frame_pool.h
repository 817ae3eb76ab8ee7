// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/frame_geometry.h"
#include "ipc/shared_region.h"
#include "ipc/slot_ledger.h"

namespace bulkhead::worker_protocol {

// The memory for the frames of one session, divided into slots, and the ledger
// that records who has which slot. The worker maps the memory writable, the
// host read-only. The ledger is private to the host. The host hands out no
// pointer into the pool before it has checked the worker's claim about the slot
// against the ledger.
//
// The session and every FrameLease own the pool together, so that frames
// outlive the session, the worker and bulkheadd. When the worker dies, the next
// worker is granted the slots that no lease holds. Thread-safe, except that
// only one thread, the one that grants slots, may call Grow().
class FramePool : public std::enable_shared_from_this<FramePool> {
 public:
  // The time at which slots get their memory. kGrowing exists because
  // allocating all slots takes longer than decoding a picture, and a caller who
  // wants one picture needs one slot.
  enum class Slots {
    kAllocated,  // all at creation
    kGrowing,    // one by one, by Grow()
  };

  // Names the session for which a bulkheadd keeps the pool's descriptor, to
  // send it to the next worker. Each bulkheadd numbers its sessions anew.
  struct Keeper {
    uint64_t supervisor = 0;
    uint64_t session = 0;
  };

  // Makes a pool of `slots` slots, or fewer if `max_bytes` has no room for so
  // many. Returns kResourceExhausted if there would be fewer than two. The
  // message of this error names `contents`, the content of a slot: "blocks of
  // samples".
  static Result<std::shared_ptr<FramePool>> Create(uint64_t slot_bytes,
                                                   const std::string& contents,
                                                   uint32_t slots,
                                                   uint64_t max_bytes,
                                                   Slots allocation);
  static Result<std::shared_ptr<FramePool>> Create(
      const ipc::FrameGeometry& geometry, uint32_t slots, uint64_t max_bytes,
      Slots allocation);

  // Allocates one more slot, which is then free. Returns false if all slots are
  // allocated, or if the kernel refuses memory for a third or later slot.
  // Returns kResourceExhausted if the kernel refuses memory for one of the
  // first two.
  Result<bool> Grow();

  // Returns the descriptor to send to a worker; -1 after GiveTo().
  int fd() const { return region_.fd(); }
  // Closes the descriptor, since `keeper` now keeps it for the next worker.
  // Call this before the first slot is leased.
  void GiveTo(Keeper keeper) {
    region_.CloseDescriptor();
    keeper_ = keeper;
  }
  // Returns the latest keeper.
  Keeper keeper() const { return keeper_; }
  // Returns the largest number of slots that the pool may get.
  uint32_t slot_count() const { return slot_count_; }
  // Returns how many slots have their memory.
  uint32_t allocated_count() const { return allocated_; }
  uint64_t slot_bytes() const { return slot_bytes_; }
  ipc::SlotLedger& ledger() { return ledger_; }
  const std::byte* slot(uint32_t index) const {
    return region_.bytes().data() + index * slot_bytes_;
  }
  // Maps the slot copy-on-write. Returns kResourceExhausted if the kernel
  // refuses, and kUnsupported if it cannot map memory in this way.
  Result<ipc::Mapping> MapPrivate(uint32_t index) const;

 private:
  FramePool(ipc::OwnedRegion region, uint32_t slot_count, uint64_t slot_bytes,
            uint32_t allocated);

  ipc::OwnedRegion region_;
  const uint32_t slot_count_;
  const uint64_t slot_bytes_;
  uint32_t allocated_;
  Keeper keeper_;
  ipc::SlotLedger ledger_;
};

// The memory that a Frame holds. There are three kinds: a slot of a pool, which
// is released when the lease is destroyed; a copy-on-write mapping of a slot
// that another lease holds; and memory of its own.
class FrameLease {
 public:
  // Holds a slot that the worker has published.
  FrameLease(std::shared_ptr<FramePool> pool, uint32_t slot);
  // Holds `mapping`, a copy-on-write mapping of the slot that the lease `slot`
  // holds. Shares that lease, so the slot is not granted as long as the mapping
  // exists.
  FrameLease(std::shared_ptr<const FrameLease> slot, ipc::Mapping mapping);
  // Holds pixels of its own.
  explicit FrameLease(std::vector<std::byte> own);
  ~FrameLease();
  FrameLease(const FrameLease&) = delete;
  FrameLease& operator=(const FrameLease&) = delete;

  const std::byte* pixels() const;
  // Returns true if the lease holds a slot.
  bool in_slot() const { return pool_ != nullptr; }
  // Maps the slot copy-on-write; requires in_slot().
  Result<ipc::Mapping> MapPrivate() const { return pool_->MapPrivate(slot_); }

 private:
  const std::shared_ptr<FramePool> pool_;
  const uint32_t slot_ = 0;
  const std::shared_ptr<const FrameLease> mapped_slot_;
  const ipc::Mapping mapping_;
  const std::vector<std::byte> own_;
};

}  // namespace bulkhead::worker_protocol
