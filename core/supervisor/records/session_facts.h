// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/control/crash_note.h"
#include "core/include/bulkhead/crashes.h"
#include "ipc/schema/control.capnp.h"

namespace bulkhead::records {

// The facts about a session whose worker ended that only the host knows.
struct SessionFacts {
  CrashClaim claim;
  std::string device;
  std::string position;
  uint32_t attempt = 1;
  std::string cause;  // why the host killed the worker; empty if it did not
  bool claims_cause = false;  // as Crash::claims_cause
  std::optional<Crash::Input> input;
  Crash::Request request;
  std::string last_message;
};
// Reads the facts from a message. The host is trusted, but its texts are
// cleaned all the same, since they are shown to people.
SessionFacts ToSessionFacts(ipc::schema::SessionEnd::Reader end);

}  // namespace bulkhead::records
