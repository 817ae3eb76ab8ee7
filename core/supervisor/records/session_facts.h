// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/control/crash_note.h"
#include "core/include/bulkhead/crashes.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::records {

// The facts of a crash record about the session whose worker ended; Crash
// explains them. The host (the application's library) knows them, bulkheadd
// does not.
struct SessionFacts {
  CrashClaim claim;  // the worker's last message, which may be a lie
  std::string device;
  std::string position;
  uint32_t attempt = 1;
  std::string cause;  // why the host killed the worker; empty if it did not
  bool claims_cause = false;  // see Crash::claims_cause
  std::optional<Crash::Input> input;
  Crash::Request request;
  std::string last_message;
};
// Reads the facts, except for `claim`, from a message of the host. The host is
// trusted, but its texts are made safe for a terminal all the same.
SessionFacts ToSessionFacts(ipc::schema::SessionEnd::Reader end);

}  // namespace bulkhead::records
