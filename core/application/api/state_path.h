// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Returns the state directory: the directory for crash records and other
// records that outlive a process. The first of these settings counts:
//
//   HostOptions::state_directory        (`option`)
//   BULKHEAD_STATE_DIR
//   /var/lib/bulkhead                   (`root`)
//   $XDG_STATE_HOME/bulkhead, or ~/.local/state/bulkhead
//
// `root` says whether the process runs as root. The result is empty, and no
// records are kept, in two cases:
// - `option` or BULKHEAD_STATE_DIR counts, and is set to an empty text.
// - The last line counts, and there is no home directory.
// Returns kInvalidArgument if `option` or BULKHEAD_STATE_DIR is a relative
// path. The environment of a privileged process (AT_SECURE) counts as empty
// (core/base/environment.h), so its caller cannot choose the directory.
Result<std::string> ResolveStatePath(const Environment& environment,
                                     const std::optional<std::string>& option,
                                     bool root);

}  // namespace bulkhead
