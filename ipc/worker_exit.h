// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::ipc {

// What a worker says by the code with which it exits, hostile as it is: its
// device is lost, which is nothing that a process of it can answer for. Whoever
// claims it falsely only has its own device waited for.
inline constexpr int kExitDeviceLost = 3;

}  // namespace bulkhead::ipc
