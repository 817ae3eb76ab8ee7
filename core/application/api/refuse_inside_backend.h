// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Returns kUnsupported, with what to do instead, in a process of a backend: one
// that a zygote loaded a plugin into, or that was cloned from such a zygote.
// Returns OK everywhere else. Where it refuses, it leaves a variable in the
// environment, so that the zygote learns of the attempt even if the plugin does
// not report the error.
//
// Call it before anything of the library is started, and not while another
// thread reads the environment.
Status RefuseInsideBackend();

}  // namespace bulkhead
