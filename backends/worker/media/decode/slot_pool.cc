// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/slot_pool.h"

#include <sys/mman.h>

#include <algorithm>

namespace bulkhead::worker::decode {
namespace {

// Maps all pages of a slot at once, which costs a fraction of a page fault for
// each. The host has allocated the memory already. Kernels before 5.14 cannot
// do that; pages are then mapped when they are first written.
void MapPages(const Slot& slot) {
  madvise(slot.data, slot.bytes, MADV_POPULATE_WRITE);
}

}  // namespace

SlotPool::SlotPool(uint8_t* base, uint32_t count, size_t slot_bytes)
    : base_(base), slot_bytes_(slot_bytes), slots_(count) {}

Slot SlotPool::Describe(uint32_t index) const {
  return {index, slots_[index].generation, base_ + index * slot_bytes_,
          slot_bytes_};
}

void SlotPool::Grant(uint32_t index, uint32_t generation) {
  std::lock_guard lock(mutex_);
  if (index >= slots_.size()) return;
  slots_[index].generation = generation;
  slots_[index].granted = true;
  slots_[index].granted_as = ++grants_;
}

Slot SlotPool::TakeLocked(uint32_t index, bool pin) {
  State& state = slots_[index];
  state.taken = true;
  state.pinned = pin;
  const Slot slot = Describe(index);
  if (!state.mapped) {
    state.mapped = true;
    MapPages(slot);
  }
  return slot;
}

std::optional<Slot> SlotPool::Take() {
  std::lock_guard lock(mutex_);
  std::optional<uint32_t> last;
  for (uint32_t index = 0; index < slot_count(); ++index) {
    if (!IsFree(slots_[index])) continue;
    if (!last || slots_[index].granted_as > slots_[*last].granted_as) {
      last = index;
    }
  }
  if (!last) return std::nullopt;
  return TakeLocked(*last, /*pin=*/false);
}

std::optional<Slot> SlotPool::TakePinned() {
  std::lock_guard lock(mutex_);
  // If decoders pinned all slots, no picture that needs a conversion could ever
  // be published.
  if (FreeLocked() < 2) return std::nullopt;
  while (!IsFree(slots_[next_pinned_])) Advance();
  const Slot slot = TakeLocked(next_pinned_, /*pin=*/true);
  Advance();
  return slot;
}

void SlotPool::Advance() { next_pinned_ = (next_pinned_ + 1) % slot_count(); }

std::optional<Slot> SlotPool::Publishable(uint32_t index) const {
  std::lock_guard lock(mutex_);
  if (index >= slots_.size()) return std::nullopt;
  const State& state = slots_[index];
  if (!state.granted || !state.taken) return std::nullopt;
  return Describe(index);
}

void SlotPool::Publish(uint32_t index) {
  std::lock_guard lock(mutex_);
  if (index >= slots_.size()) return;
  slots_[index].granted = false;
  // A pinned slot stays taken: the decoder may still refer to it when the host
  // grants it again.
  if (!slots_[index].pinned) slots_[index].taken = false;
}

void SlotPool::Release(uint32_t index) {
  std::lock_guard lock(mutex_);
  if (index >= slots_.size()) return;
  slots_[index].taken = false;
  slots_[index].pinned = false;
}

bool SlotPool::has_pinned_grant() const {
  std::lock_guard lock(mutex_);
  return std::any_of(slots_.begin(), slots_.end(), [](const State& state) {
    return state.granted && state.pinned;
  });
}

uint32_t SlotPool::free_count() const {
  std::lock_guard lock(mutex_);
  return FreeLocked();
}

uint32_t SlotPool::FreeLocked() const {
  uint32_t free = 0;
  for (const State& state : slots_) {
    free += IsFree(state) ? 1 : 0;
  }
  return free;
}

}  // namespace bulkhead::worker::decode
