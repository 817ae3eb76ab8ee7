// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::ipc {

// The exit code by which a worker reports that its device is lost. No process
// of a backend is to blame for a lost device. A hostile worker that lies gains
// nothing: bulkheadd only waits for that worker's own device.
inline constexpr int kExitDeviceLost = 3;

}  // namespace bulkhead::ipc
