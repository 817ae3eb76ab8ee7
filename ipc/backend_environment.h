// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::ipc {

// Environment variables of a backend's processes. They give a clear error
// message when a plugin uses libbulkhead inside its own backend. Without the
// variables, libbulkhead would fail with an unclear error, because the sandbox
// permits no new process. On a machine without a sandbox, libbulkhead inside
// the plugin would load the same plugin again, and so on without end.
//
// The variables are no protection: vendor code can clear both, and is then
// stopped by the sandbox.

// Marks the processes of a backend. The reaper sets the variable before it
// starts the zygote; libbulkhead refuses to start where it is set.
inline constexpr char kInsideBackendVariable[] = "BULKHEAD_INSIDE_BACKEND";
// Records that libbulkhead has refused to start in this process. libbulkhead
// sets the variable. The zygote reads it once the plugin is loaded and reports
// it to the operator, even if the plugin hides the error.
inline constexpr char kRefusedInsideVariable[] =
    "BULKHEAD_REFUSED_INSIDE_BACKEND";

}  // namespace bulkhead::ipc
