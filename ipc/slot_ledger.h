// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "ipc/error.h"

namespace bulkhead::ipc {

// Who may touch which slot of the frame pool. The ledger is the host's private
// memory; the worker's words are only ever compared with it.
//
//            TakeForGrant [host]           Publish [worker says, host accepts]
//     free ──────────────────────► granted ────────────────────────► leased
//      ▲ ▲                            │                                  │
//      │ └────────────────────────────┘                                  │
//      │   RevokeGrants [host, once the worker is dead]                  │
//      └─────────────────────────────────────────────────────────────────┘
//          Release [host, when the Frame dies]
//
// Each grant has a generation, which names it among all grants of its slot: a
// publication of a slot that was revoked and granted anew is recognised as old.
// A leased slot stays leased when its worker dies: frames outlive workers.
//
// Threads: safe; frames die on any thread.
class SlotLedger {
 public:
  struct Grant {
    uint32_t slot;
    uint32_t generation;
  };

  explicit SlotLedger(uint32_t slots);

  // The slot released last, whose memory is warmest; nullopt when none is free.
  std::optional<Grant> TakeForGrant();

  // kBackendMisbehaved unless exactly this grant is outstanding.
  Expected<void> Publish(uint32_t slot_untrusted,
                         uint32_t generation_untrusted);

  // Only for a leased slot.
  void Release(uint32_t slot);

  // Only when the worker can no longer write: it has been reaped.
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
  std::vector<uint32_t> free_;  // guarded by mutex_; a stack
};

}  // namespace bulkhead::ipc
