// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Builds a root directory that holds the files that a policy names and nothing
// else: no /proc, only the granted nodes in /dev, nothing writable. Runs in the
// cloned child, in its own user and mount namespaces, while the child still has
// all capabilities there.
//
// The plugin's files and granted objects are opened, compared with the identity
// that the policy saw, and mounted from that very descriptor, so that nobody
// can replace them in between. A file is mounted by itself, so the permissions
// of its outside directories do not matter inside. A file with `contents` is a
// copy of them in the root's tmpfs instead, which nobody can change: its owner
// has no part in it.
//
// There are two steps, because the child changes its ids between them.
// Directories that only root may enter (a plugin below /root) must be opened
// before the change. The tmpfs must be made after it, or it would be owned by
// an id that the namespace does not know.

// Step 1: returns detached mounts of the visible paths, one for each
// VisiblePath. The descriptor for a symbolic link or a copy is empty.
Result<std::vector<ipc::UniqueFd>> OpenVisible(
    const std::vector<VisiblePath>& visible);

// Step 2: builds the root from `mounts`, enters it and detaches the old root.
Status EnterNewRoot(const std::vector<VisiblePath>& visible,
                    const std::vector<ipc::UniqueFd>& mounts);

}  // namespace bulkhead::sandbox
