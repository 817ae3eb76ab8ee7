// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::sandbox {

// Returns the paths that the dynamic linker needs to start the reaper and the
// worker and to load the libraries of a plugin: the linker, its cache, and the
// directories that it is configured to search.
//
// A multiarch directory (/usr/lib/x86_64-linux-gnu) is returned as a whole,
// since it contains only libraries and files that libraries load. Of any other
// directory (/usr/local/lib), only the shared objects directly in it are
// returned: its subdirectories may contain programs and other vendors' plugins.
// Symbolic links to directories of libraries, such as Debian's /lib64, are
// returned as links.
//
// Reads /etc/ld.so.conf. Does not report missing files, because the dynamic
// linker reports them.
std::vector<VisiblePath> LoaderLibraries();

}  // namespace bulkhead::sandbox
