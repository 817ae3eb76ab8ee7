// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "ipc/error.h"

namespace bulkhead::ipc {

// Records who may use which slot of the frame pool. The ledger lies in the
// host's private memory. What the worker claims about a slot is only compared
// with it.
//
//            TakeForGrant [host]           Publish [worker says, host accepts]
//     free ──────────────────────► granted ────────────────────────► leased
//      ▲ ▲                            │                                  │
//      │ └────────────────────────────┘                                  │
//      │   RevokeGrants [host, once the worker is dead]                  │
//      └─────────────────────────────────────────────────────────────────┘
//          Release [host, when the Frame dies]
//
// Each grant of a slot has a new generation. The generation sets a publication
// for the current grant apart from a late one for a grant that was revoked. A
// slot stays leased when its worker dies: frames outlive workers.
//
// Thread-safe, since frames are destroyed on any thread.
class SlotLedger {
 public:
  struct Grant {
    uint32_t slot;
    uint32_t generation;
  };

  explicit SlotLedger(uint32_t slots);

  // Adds one more slot, which is free. Its number is the number of slots
  // before.
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

  size_t free_count() const;
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
