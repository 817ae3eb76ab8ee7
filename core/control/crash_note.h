// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"
#include "ipc/schema/types.capnp.h"

namespace bulkhead {

// A report that a dying process of a backend has written about its own death.
// It is bounded and safe to show to a person, but the process may have made up
// every word.
struct CrashClaim {
  int signal = 0;
  uint64_t address = 0;
  std::vector<std::string> backtrace;
  // Set if the process ended because the backend said, by its C ABI, that the
  // device is lost or that the backend failed. `signal` and `address` are then
  // 0, and `backtrace` has at most one line, the backend's words.
  bool device_lost = false;
  bool backend_failed = false;
};

// Returns whether the backend itself said by its C ABI why the process ends, so
// that there was no fault.
inline bool IsAdmission(const CrashClaim& claim) {
  return claim.device_lost || claim.backend_failed;
}

// Reads a crash note, and ignores parts that make no sense. Call it inside
// ipc::ReadCatching, since reading may throw.
CrashClaim ReadCrashNote(ipc::schema::CrashNote::Reader note_untrusted);

// Adds the claim to the report of the death if the two agree: both have the
// same signal, or the process exited with the code that stands for the claim
// (ipc/worker_exit.h).
void AddClaim(CrashClaim claim, ExitReport& report);

// Writes a claim in a form that ReadCrashNote() can read again.
void Write(const CrashClaim& claim, ipc::schema::CrashNote::Builder out);

}  // namespace bulkhead
