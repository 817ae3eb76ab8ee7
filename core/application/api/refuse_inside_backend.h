// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Returns kUnsupported in a process of a backend (a zygote or its clone, a
// worker), and OK in all other processes. A plugin that tries to use Bulkhead
// itself gets this error, whose message says what to do instead.
//
// In a process of a backend, the function also sets an environment variable.
// The zygote reads the variable after it has loaded the plugin. So it learns of
// the attempt even if the plugin ignores the error.
//
// Call it before any part of the library is started, and not while another
// thread reads the environment.
Status RefuseInsideBackend();

}  // namespace bulkhead
