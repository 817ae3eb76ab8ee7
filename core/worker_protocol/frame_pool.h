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

// The memory of one session's frames, and the ledger that records who has which
// slot. The worker maps the memory writable, the host read-only. The ledger is
// private to the host, and no pointer into the pool is handed out before a
// claim of the worker was checked against it.
//
// The session and every FrameLease own the pool together, so that frames
// outlive session, worker and supervisor. When the worker dies, the next worker
// is granted the slots that no lease holds. Thread-safe, but for Grow(), which
// is for the one thread that grants slots.
class FramePool : public std::enable_shared_from_this<FramePool> {
 public:
  // The time at which slots get their memory. Allocating all of it takes longer
  // than decoding a picture, and who wants one picture needs one slot.
  enum class Slots {
    kAllocated,  // all at creation
    kGrowing,    // one by one, by Grow()
  };

  // The session for which a bulkheadd keeps the descriptor. Each bulkheadd
  // numbers its sessions anew.
  struct Keeper {
    uint64_t supervisor = 0;
    uint64_t session = 0;
  };

  // Makes a pool of `slots` slots, fewer if `max_bytes` has no room for as
  // many. Returns kResourceExhausted if there would be fewer than two.
  // `contents` says in the message what a slot holds: "blocks of samples".
  static Result<std::shared_ptr<FramePool>> Create(uint64_t slot_bytes,
                                                   const std::string& contents,
                                                   uint32_t slots,
                                                   uint64_t max_bytes,
                                                   Slots allocation);
  static Result<std::shared_ptr<FramePool>> Create(
      const ipc::FrameGeometry& geometry, uint32_t slots, uint64_t max_bytes,
      Slots allocation);

  // Allocates one more slot, which is then free. Returns false if the pool has
  // all of its slots, or has two and the kernel refuses the memory of another;
  // kResourceExhausted if it refuses the memory of the first two.
  Result<bool> Grow();

  // The descriptor to send to a worker; -1 once it was given away.
  int fd() const { return region_.fd(); }
  // Closes the descriptor, which `keeper` has for the next worker. Call it
  // before the first slot is leased.
  void GiveTo(Keeper keeper) {
    region_.CloseDescriptor();
    keeper_ = keeper;
  }
  // Returns the latest keeper.
  Keeper keeper() const { return keeper_; }
  // Returns how many slots the pool may have; never more than that.
  uint32_t slot_count() const { return slot_count_; }
  // Returns how many slots have their memory.
  uint32_t allocated_count() const { return allocated_; }
  uint64_t slot_bytes() const { return slot_bytes_; }
  ipc::SlotLedger& ledger() { return ledger_; }
  const std::byte* slot(uint32_t index) const {
    return region_.bytes().data() + index * slot_bytes_;
  }
  // Maps the slot copy-on-write. kResourceExhausted if the kernel refuses it,
  // kUnsupported if it cannot do so.
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

// The memory that a Frame holds: a slot, which goes back to its pool when the
// lease is destroyed, a copy-on-write mapping of a slot that another lease
// holds, or memory of its own.
class FrameLease {
 public:
  // The worker must have published the slot.
  FrameLease(std::shared_ptr<FramePool> pool, uint32_t slot);
  // Keeps `slot`, which `mapping` maps.
  FrameLease(std::shared_ptr<const FrameLease> slot, ipc::Mapping mapping);
  explicit FrameLease(std::vector<std::byte> own);
  ~FrameLease();
  FrameLease(const FrameLease&) = delete;
  FrameLease& operator=(const FrameLease&) = delete;

  const std::byte* pixels() const;
  // Returns true if the pixels are in the slot itself.
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
