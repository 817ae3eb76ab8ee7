// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/include/bulkhead/status.h"
#include "core/supervisor/sandbox/policy.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {

// Builds a root directory with exactly the files that a policy names: no /proc,
// only the granted nodes in /dev, nothing writable. Runs in the cloned child,
// in its own user and mount namespaces, while the child still has all
// capabilities there.
//
// Files of the plugin and granted objects are opened, compared with the
// identity in the policy, and mounted from the same descriptor, so that nobody
// can replace them in between. Each file is a bind mount of its own, so the
// worker can reach it even if its user may not enter the directories above the
// original. A VisiblePath with `contents` becomes a read-only copy in the
// root's tmpfs, which the owner of the original file cannot change.
//
// There are two steps, because the child changes its ids between them. Step 1
// comes before the change, since it may have to enter directories that only
// root may enter (a plugin below /root). Step 2 comes after the change: before
// it, the tmpfs would belong to an id that the namespace does not know.

// Step 1. Returns one detached mount for each visible path, in their order. The
// descriptor for a symbolic link or a copy is empty.
Result<std::vector<ipc::UniqueFd>> OpenVisible(
    const std::vector<VisiblePath>& visible);

// Step 2. Builds the root from `mounts`, enters it, and detaches the old root.
Status EnterNewRoot(const std::vector<VisiblePath>& visible,
                    const std::vector<ipc::UniqueFd>& mounts);

}  // namespace bulkhead::sandbox
