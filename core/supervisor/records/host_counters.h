// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/control/session_counters.h"
#include "ipc/shared_region.h"

namespace bulkhead::records {

// The session counters in memory that the host (the application's library)
// shares with bulkheadd (core/control/session_counters.h). The host writes,
// bulkheadd reads. Until the host has shared the memory, no session is counted.
class HostCounters {
 public:
  void Set(ipc::MappedRegion region) { region_ = std::move(region); }

  // Returns counter number `place` in that memory, or null if a session with
  // this place is not counted.
  const SessionCounter* Find(uint32_t place) const {
    if (!region_ || place >= kMaxCountedSessions) return nullptr;
    return reinterpret_cast<const SessionCounter*>(region_->bytes().data()) +
           place;
  }

 private:
  std::optional<ipc::MappedRegion> region_;
};

}  // namespace bulkhead::records
