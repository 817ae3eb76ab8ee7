// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "ipc/error.h"

namespace bulkhead::ipc {

// Records the state of each slot of the frame pool: who may use the slot. The
// ledger lies in the host's private memory; a worker's claims about a slot are
// only compared with it.
//
//            TakeForGrant [host]           Publish [worker says, host accepts]
//     free ──────────────────────► granted ────────────────────────► leased
//      ▲ ▲                            │                                  │
//      │ └────────────────────────────┘                                  │
//      │   RevokeGrants [host, once the worker is dead]                  │
//      └─────────────────────────────────────────────────────────────────┘
//          Release [host, when the Frame dies]
//
// Each grant of a slot has a new generation number. A worker publishes a slot
// with the generation of its grant. So a late publication, for a grant that was
// revoked, is recognised and refused. A slot stays leased when its worker dies:
// frames outlive workers.
//
// Thread-safe, since frames are destroyed on any thread.
class SlotLedger {
 public:
  // A slot that the worker may write, until it publishes the slot.
  struct Grant {
    uint32_t slot;
    uint32_t generation;
  };

  // Makes a ledger of `slots` free slots.
  explicit SlotLedger(uint32_t slots);

  // Adds one more free slot, whose number is the previous number of slots.
  void Add();

  // Grants the slot that was released last, since its memory is most likely
  // cached. Returns nullopt if no slot is free.
  std::optional<Grant> TakeForGrant();

  // Turns a grant into a lease. Returns kBackendMisbehaved unless this slot is
  // granted with this generation.
  Expected<void> Publish(uint32_t slot_untrusted,
                         uint32_t generation_untrusted);

  // Frees a slot, which must be leased.
  void Release(uint32_t slot);

  // Frees every granted slot. Call only once the worker has been reaped and so
  // can no longer write.
  void RevokeGrants();

  size_t granted_count() const;
  size_t leased_count() const;

 private:
  enum class State : uint8_t { kFree, kGranted, kLeased };
  struct Slot {
    State state = State::kFree;
    uint32_t generation = 0;
  };

  size_t Count(State state) const;

  mutable std::mutex mutex_;
  std::vector<Slot> slots_;     // guarded by mutex_
  std::vector<uint32_t> free_;  // a stack; guarded by mutex_
};

}  // namespace bulkhead::ipc
