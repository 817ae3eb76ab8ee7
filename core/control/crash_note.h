// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/schema/types.capnp.h"

namespace bulkhead {

// What a process of a backend said last: why it dies. Bounded, and fit to be
// shown to a person; not one word of it need be true.
struct CrashClaim {
  int signal = 0;
  uint64_t address = 0;
  std::vector<std::string> backtrace;
};

// Call inside ipc::ReadCatching. Says nothing of what makes no sense.
CrashClaim ReadCrashNote(ipc::schema::CrashNote::Reader note_untrusted);

// Adds it to what is known of that end, if the two agree.
void AddClaim(CrashClaim claim, ExitReport& report);

}  // namespace bulkhead
