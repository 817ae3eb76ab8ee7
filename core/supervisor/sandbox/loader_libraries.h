// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::sandbox {

// Returns the files that the dynamic linker needs to start the reaper and the
// worker and to resolve what a plugin links to: the linker, its cache, and the
// directories that it is configured to search.
//
// A multiarch directory (/usr/lib/TRIPLET) is returned as a whole, since it
// holds nothing but libraries and what they load. Of any other directory
// (/usr/local/lib) only the shared objects directly in it are returned, since
// programs and other vendors' plugins live below those. Links such as /lib64
// and /etc/alternatives, through which Debian reaches libraries, stay links.
//
// Reads /etc/ld.so.conf. Does not report missing files, because the dynamic
// linker reports them.
std::vector<VisiblePath> LoaderLibraries();

}  // namespace bulkhead::sandbox
