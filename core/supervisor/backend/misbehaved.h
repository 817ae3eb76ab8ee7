// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor {

// Returns kBackendMisbehaved. `what` says how the worker broke the protocol.
inline Status Misbehaved(const std::string& what) {
  return Status(Code::kBackendMisbehaved, "it broke the protocol: " + what);
}

}  // namespace bulkhead::supervisor
