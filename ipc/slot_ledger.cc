// SPDX-License-Identifier: Apache-2.0
#include "ipc/slot_ledger.h"

#include <algorithm>
#include <cassert>
#include <string>

namespace bulkhead::ipc {

SlotLedger::SlotLedger(uint32_t slots) : slots_(slots) {
  free_.reserve(slots);
  // Slots are pushed in reverse, so that the first grants take the first slots.
  for (uint32_t slot = slots; slot-- > 0;) free_.push_back(slot);
}

void SlotLedger::Add() {
  const std::lock_guard lock(mutex_);
  free_.push_back(static_cast<uint32_t>(slots_.size()));
  slots_.emplace_back();
}

std::optional<SlotLedger::Grant> SlotLedger::TakeForGrant() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::nullopt;
  const uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.state = State::kGranted;
  return Grant{index, ++slot.generation};
}

Expected<void> SlotLedger::Publish(uint32_t slot_untrusted,
                                   uint32_t generation_untrusted) {
  const std::lock_guard lock(mutex_);
  if (slot_untrusted >= slots_.size() ||
      slots_[slot_untrusted].state != State::kGranted ||
      slots_[slot_untrusted].generation != generation_untrusted) {
    return Fail(Code::kBackendMisbehaved,
                "the worker published slot " + std::to_string(slot_untrusted) +
                    ", generation " + std::to_string(generation_untrusted) +
                    ", which it had not been granted");
  }
  slots_[slot_untrusted].state = State::kLeased;
  return {};
}

void SlotLedger::Release(uint32_t slot) {
  const std::lock_guard lock(mutex_);
  assert(slot < slots_.size() && slots_[slot].state == State::kLeased);
  slots_[slot].state = State::kFree;
  free_.push_back(slot);
}

void SlotLedger::RevokeGrants() {
  const std::lock_guard lock(mutex_);
  for (uint32_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    if (slot.state != State::kGranted) continue;
    slot.state = State::kFree;
    // From now on, a publication that is still under way has an old generation
    // and is refused.
    ++slot.generation;
    free_.push_back(index);
  }
}

size_t SlotLedger::granted_count() const { return Count(State::kGranted); }
size_t SlotLedger::leased_count() const { return Count(State::kLeased); }

size_t SlotLedger::Count(State state) const {
  const std::lock_guard lock(mutex_);
  return std::count_if(slots_.begin(), slots_.end(), [state](const Slot& slot) {
    return slot.state == state;
  });
}

}  // namespace bulkhead::ipc
