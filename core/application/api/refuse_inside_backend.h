// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Bulkhead does not run inside one of its own backends. kUnsupported, with what
// to do instead, in a process that a zygote loaded a plugin into or cloned; OK
// everywhere else. Leaves a note in the environment, by which the zygote learns
// of it though the plugin may keep it to itself.
//
// Call it before anything of the library is started. Not to be called while
// another thread reads the environment.
Status RefuseInsideBackend();

}  // namespace bulkhead
