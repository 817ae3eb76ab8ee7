// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/control/session_ends.h"
#include "ipc/robust_word.h"
#include "ipc/shared_region.h"
#include "ipc/waiter.h"

namespace bulkhead::sockets {

// Reports to the host (the application) which workers have ended, in memory
// that the host shares (SessionEnds in core/control/session_ends.h). Reports
// nothing before Set().
//
// Bound to the event loop's thread. The kernel reports the end of that thread
// in the same memory (a robust futex).
class HostEnds {
 public:
  // Sets the memory. Returns false if the kernel will not report the end of
  // this thread in it.
  bool Set(ipc::MappedRegion region) {
    region_ = std::move(region);
    return ipc::RobustWord::Own(&memory()->supervisor);
  }

  // Gives `place`, an index in SessionEnds::ended, to a session. A later
  // Report() about the session that had the place before is ignored.
  void Open(uint32_t place, uint64_t session) { owners_[place] = session; }
  // Reports that the session's worker has ended, and wakes the host.
  void Report(uint32_t place, uint64_t session) {
    const auto owner = owners_.find(place);
    if (!region_ || place >= kMostSessionEnds || owner == owners_.end() ||
        owner->second != session) {
      return;
    }
    owners_.erase(owner);
    memory()->ended[place].store(EndMark(session));
    ipc::WakeSleepers(&memory()->ended[place],
                      ipc::WatchedWord::Scope::kShared);
  }

 private:
  SessionEnds* memory() {
    return reinterpret_cast<SessionEnds*>(region_->writable_bytes().data());
  }

  std::optional<ipc::MappedRegion> region_;
  std::map<uint32_t, uint64_t> owners_;  // the session at each place
};

}  // namespace bulkhead::sockets
