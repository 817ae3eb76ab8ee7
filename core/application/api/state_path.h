// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Where records outlive a process: the first of
//
//   HostOptions::state_directory        (`option`)
//   BULKHEAD_STATE_DIR
//   /var/lib/bulkhead                   (`root`)
//   $XDG_STATE_HOME/bulkhead, or ~/.local/state/bulkhead
//
// Empty: nowhere. kInvalidArgument for one of the first two that is neither
// empty nor absolute. The environment of a privileged process (AT_SECURE) is
// empty (discovery/environment.h), so nobody else has a say there.
Result<std::string> ResolveStatePath(const discovery::Environment& environment,
                                     const std::optional<std::string>& option,
                                     bool root);

}  // namespace bulkhead
