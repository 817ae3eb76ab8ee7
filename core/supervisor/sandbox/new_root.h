// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// A root that holds what a policy names and nothing else: no /proc, of /dev the
// granted nodes alone, nothing writable. What was granted is opened without
// following a link, compared with what the policy saw, and mounted from that
// very descriptor. Both halves run in the cloned child, in its own user and
// mount namespace, while it still has all capabilities there.
//
// Two halves, because directories that only root may enter (a plugin below
// /root) have to be opened before the child drops its ids, while a tmpfs made
// before that would be owned by an id that its namespace does not know. A file
// is mounted as itself, so the directories it lies in never matter inside.

// Copies of what is visible, as detached mounts; one for each VisiblePath, none
// for a link.
Result<std::vector<ipc::UniqueFd>> OpenVisible(
    const std::vector<VisiblePath>& visible);

// Builds the root from them, moves into it and lets go of the old one.
Status EnterNewRoot(const std::vector<VisiblePath>& visible,
                    const std::vector<ipc::UniqueFd>& mounts);

}  // namespace bulkhead::sandbox
