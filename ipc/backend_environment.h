// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::ipc {

// Environment variables of a backend's processes. They exist for a clear error
// message when a plugin starts Bulkhead from inside its own backend. Without
// them, Bulkhead would fail because the sandbox starts no process; without the
// sandbox, it would load the same plugin again and again.
//
// They are no protection: vendor code can clear both variables, and then meets
// the sandbox instead.

// Marks the processes of a backend. The reaper sets the variable before it
// starts the zygote; the library refuses to start where it is set.
inline constexpr char kInsideBackendVariable[] = "BULKHEAD_INSIDE_BACKEND";
// Records that the library has refused to start in this process. The library
// sets the variable; the zygote reads it once the plugin is loaded and says so
// to the operator, even if the plugin hides the error.
inline constexpr char kRefusedInsideVariable[] =
    "BULKHEAD_REFUSED_INSIDE_BACKEND";

}  // namespace bulkhead::ipc
