// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::sandbox {

// What the dynamic linker needs to start the reaper and the worker and to
// resolve what a plugin links to: itself, its cache, and the directories it is
// configured to search. All of a multiarch directory (/usr/lib/TRIPLET), since
// it holds nothing but libraries and what they load; of any other directory
// (/usr/local/lib) only the shared objects directly in it, since programs and
// other vendors' plugins live below those. Links such as /lib64 and
// /etc/alternatives, through which Debian reaches libraries, are kept as links.
//
// Reads /etc/ld.so.conf; says nothing about what is missing, the dynamic linker
// will.
std::vector<VisiblePath> LoaderLibraries();

}  // namespace bulkhead::sandbox
