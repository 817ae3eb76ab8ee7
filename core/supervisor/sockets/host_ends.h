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

// Reports to the host which workers have ended (core/control/session_ends.h).
// Until the host has shared the memory, nothing is reported.
//
// Bound to the event loop's thread, whose own end the memory reports as well.
class HostEnds {
 public:
  // Returns false if the kernel will not report the end of this thread.
  bool Set(ipc::MappedRegion region) {
    region_ = std::move(region);
    return ipc::RobustWord::Own(&memory()->supervisor);
  }

  // Gives the place to a session. Ends of an earlier one are ignored then.
  void Open(uint32_t place, uint64_t session) { owners_[place] = session; }
  void Tell(uint32_t place, uint64_t session) {
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
  std::map<uint32_t, uint64_t> owners_;
};

}  // namespace bulkhead::sockets
