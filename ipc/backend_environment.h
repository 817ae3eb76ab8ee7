// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::ipc {

// Variables in the environment of a backend's processes. A plugin that itself
// starts Bulkhead would find no process to start and, if it could, itself again
// and again: the library refuses where it sees the first, and leaves the second
// for the zygote, which then tells the operator even if the plugin does not.
//
// Vendor code can clear both, and would then be told by the sandbox instead:
// this is for a clear message, not for safety.
inline constexpr char kInsideBackendVariable[] = "BULKHEAD_INSIDE_BACKEND";
inline constexpr char kRefusedInsideVariable[] =
    "BULKHEAD_REFUSED_INSIDE_BACKEND";

}  // namespace bulkhead::ipc
