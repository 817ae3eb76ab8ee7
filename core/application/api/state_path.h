// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Returns the directory for the records that outlive a process. The first of
// these that is set counts:
//
//   HostOptions::state_directory        (`option`)
//   BULKHEAD_STATE_DIR
//   /var/lib/bulkhead                   (`root`)
//   $XDG_STATE_HOME/bulkhead, or ~/.local/state/bulkhead
//
// Returns an empty path if no record is to be kept, and kInvalidArgument if one
// of the first two is neither empty nor absolute. The environment of a
// privileged process (AT_SECURE) counts as empty (core/base/environment.h), so
// that the caller of the program cannot choose the directory.
Result<std::string> ResolveStatePath(const Environment& environment,
                                     const std::optional<std::string>& option,
                                     bool root);

}  // namespace bulkhead
