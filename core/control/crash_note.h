// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/schema/types.capnp.h"

namespace bulkhead {

// The report of a dying process of a backend about its own death. Bounded and
// safe to show to a person, but the process may have made up every word.
struct CrashClaim {
  int signal = 0;
  uint64_t address = 0;
  std::vector<std::string> backtrace;
  // The backend's interface said that the device is lost, or that the backend
  // failed. Then `signal` and `address` are 0, and `backtrace` has at most one
  // line, the backend's words about it.
  bool device_lost = false;
  bool backend_failed = false;
};

// Returns whether the claim is one of the backend's interface, and no fault.
inline bool IsAdmission(const CrashClaim& claim) {
  return claim.device_lost || claim.backend_failed;
}

// Reads a crash note, and ignores the parts that make no sense. Call it inside
// ipc::ReadCatching, since reading may throw.
CrashClaim ReadCrashNote(ipc::schema::CrashNote::Reader note_untrusted);

// Adds the claim to the report of that death if both name the same signal, or
// if the process exited with the code of what the backend's interface said.
void AddClaim(CrashClaim claim, ExitReport& report);

// Writes a claim that ReadCrashNote() has read, so that it can be read again.
void Write(const CrashClaim& claim, ipc::schema::CrashNote::Builder out);

}  // namespace bulkhead
