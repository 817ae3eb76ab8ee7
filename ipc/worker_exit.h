// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::ipc {

// The exit code by which a worker reports that its device is lost. No process
// of a backend is to blame for a lost device. A hostile worker that lies gains
// nothing: bulkheadd only waits for that worker's own device.
inline constexpr int kExitDeviceLost = 3;

// The exit code of a clone whose memory cannot be limited or whose stage 2
// cannot be installed. It has met no media and says why on stderr.
inline constexpr int kExitLockdown = 5;

// The exit code by which a worker reports that its backend failed, though the
// file may be sound (BULKHEAD_FAILED).
inline constexpr int kExitBackendFailed = 6;

}  // namespace bulkhead::ipc
