// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/control/session_counters.h"
#include "ipc/shared_region.h"

namespace bulkhead::supervisor {

// The session counters of the host (core/control/session_counters.h), once it
// has shared them.
class HostCounters {
 public:
  void Set(ipc::MappedRegion region) { region_ = std::move(region); }

  // Null: it is not counted.
  const SessionCounter* Find(uint32_t place) const {
    if (!region_ || place >= kMaxCountedSessions) return nullptr;
    return reinterpret_cast<const SessionCounter*>(region_->bytes().data()) +
           place;
  }

 private:
  std::optional<ipc::MappedRegion> region_;
};

}  // namespace bulkhead::supervisor
