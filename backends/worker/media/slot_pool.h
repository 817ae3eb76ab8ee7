// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace bulkhead::worker {

// One slot of the frame pool, writable.
struct Slot {
  uint32_t index;
  uint32_t generation;
  uint8_t* data;
  size_t bytes;
};

// The worker's side of the frame pool.
//
//   host owns --Grant--> free --Take--> held --Publish--> host owns
//                         ^               |
//                         +----Release----+
//
// A decoder that decodes into a slot may go on referring to it after its
// picture was published, and even after the host has granted it again: until
// Release it is `pinned`, and a grant does not free it. One slot is always left
// for the colour converter, or the frame that comes next might wait for ever.
//
// Thread-safe: decoders acquire buffers from threads of their own. The memory
// is borrowed and outlives the pool.
class SlotPool {
 public:
  // `base` is the mapped pool: `count` slots of `slot_bytes`.
  SlotPool(uint8_t* base, uint32_t count, size_t slot_bytes);

  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  // The host hands over a slot. Ignored for an index that does not exist.
  void Grant(uint32_t index, uint32_t generation);

  // For a conversion, to be followed by Publish or Release.
  std::optional<Slot> Take();

  // For a decoder, pinned until Release. Leaves one slot alone.
  std::optional<Slot> TakePinned();

  // Whether the picture in a pinned slot may go to the host: the host has
  // granted it and has not got it back yet.
  std::optional<Slot> Publishable(uint32_t index) const;

  // From here on the host owns the slot.
  void Publish(uint32_t index);

  // The taker is done with it. Free again, if it was not published.
  void Release(uint32_t index);

  // Slots that Take could yield now.
  uint32_t free_count() const;
  uint32_t slot_count() const { return static_cast<uint32_t>(slots_.size()); }
  size_t slot_bytes() const { return slot_bytes_; }

 private:
  struct State {
    uint32_t generation = 0;
    bool granted = false;
    bool taken = false;
    bool pinned = false;
  };

  std::optional<Slot> TakeLocked(bool pin);
  Slot Describe(uint32_t index) const;

  uint8_t* const base_;
  const size_t slot_bytes_;
  mutable std::mutex mutex_;
  std::vector<State> slots_;
  uint32_t next_ = 0;  // slots are used in turn: the oldest grant is coldest
};

}  // namespace bulkhead::worker
