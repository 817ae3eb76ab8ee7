// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace bulkhead::worker::decode {

// One slot of the frame pool, which this process may write to.
struct Slot {
  uint32_t index;
  uint32_t generation;
  uint8_t* data;
  size_t bytes;
};

// The worker's side of the frame pool: tracks who owns each slot.
//
//   host owns --Grant--> free --Take--> taken --Publish--> host owns
//                         ^               |
//                         +----Release----+
//
// A decoder that decodes into a slot may still refer to the slot after its
// picture was published, and even after the host has granted the slot again. So
// such a slot is *pinned* until Release: a grant does not free it. The last
// free slot is never pinned. It is kept for pictures that were decoded into
// private memory, which could otherwise wait for a slot for ever.
//
// Thread-safe, since decoders acquire buffers on their own threads. The memory
// is borrowed and must outlive the pool.
class SlotPool {
 public:
  // `base` is the start of the mapped pool: `count` slots of `slot_bytes` each.
  SlotPool(uint8_t* base, uint32_t count, size_t slot_bytes);

  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  // Records that the host handed over a slot. Ignores an index out of range.
  void Grant(uint32_t index, uint32_t generation);

  // Takes the free slot that was granted last, for a conversion; Publish or
  // Release must follow. While the host keeps up, two slots are used in turn,
  // and the pages of the others are never mapped.
  std::optional<Slot> Take();

  // Takes the next free slot, in the order of their indices, for a decoder, and
  // pins it until Release. Never pins the last free slot.
  std::optional<Slot> TakePinned();

  // Returns a taken slot if the picture in it may be published, that is, if the
  // slot was not published since the host granted it.
  std::optional<Slot> Publishable(uint32_t index) const;

  // Makes the host the owner of the slot.
  void Publish(uint32_t index);

  // Ends a decoder's or a conversion's use of a taken slot. The slot is then
  // free unless the host owns it.
  void Release(uint32_t index);

  // Returns whether the host has granted a slot that Take cannot return,
  // because a decoder still refers to it.
  bool has_pinned_grant() const;

  // Returns the number of slots that Take could return now.
  uint32_t free_count() const;
  uint32_t slot_count() const { return static_cast<uint32_t>(slots_.size()); }
  size_t slot_bytes() const { return slot_bytes_; }

 private:
  struct State {
    uint32_t generation = 0;
    uint64_t granted_as = 0;  // the number of its last grant
    bool granted = false;
    bool taken = false;
    bool pinned = false;
    bool mapped = false;  // its pages are in this process's page table
  };

  // Functions with "Locked" in their names require that mutex_ is held.
  Slot TakeLocked(uint32_t index, bool pin);
  uint32_t FreeLocked() const;
  static bool IsFree(const State& state) {
    return state.granted && !state.taken;
  }
  void Advance();
  Slot Describe(uint32_t index) const;

  uint8_t* const base_;
  const size_t slot_bytes_;
  mutable std::mutex mutex_;
  std::vector<State> slots_;
  uint64_t grants_ = 0;
  uint32_t next_pinned_ = 0;  // the slot that TakePinned tries first
};

}  // namespace bulkhead::worker::decode
