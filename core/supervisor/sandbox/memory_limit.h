// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// Limits how much memory a session's worker may have. There are two limits,
// which the zygote sets in the worker before stage 2, so that nothing in the
// worker can raise them:
//
//   RLIMIT_DATA  private memory that can be written. Libraries see it as a
//                failed allocation.
//   RLIMIT_AS    everything that is mapped. RLIMIT_DATA does not count pages
//                that were written and then made read-only; this limit does.
//
//     MemoryLimits limits = LimitsFor(zygote, allowance, maps_devices);
//     ... clone the worker with these limits ...
//     RETURN_IF_ERROR(CheckMemoryLimits(worker, limits));
//
// Both functions read /proc, so the answer comes from the kernel and not from
// the hostile process. Thread-safe.

// The memory that a session's worker may have beyond its zygote's, in bytes.
struct MemoryAllowance {
  uint64_t private_bytes = 0;  // Limits::worker_bytes; 0 means no limit
  uint64_t shared_bytes = 0;   // Limits::session_bytes: frames and samples
};

// The two limits of a process in bytes; 0 means no limit.
struct MemoryLimits {
  uint64_t data_bytes = 0;
  uint64_t address_bytes = 0;
};

// Address space for what decoders reserve and do not use: stacks of threads and
// the arenas of malloc, which does with fewer arenas if it gets no more.
inline constexpr uint64_t kReservedBytes = uint64_t{256} << 20;

// Returns the limits for a worker cloned from `zygote_pidfd`. A driver maps far
// more than it uses, so a worker that has devices has no limit of its address
// space but that of its backend (Limits::address_space_bytes in policy.h). All
// limits are 0 if `allowance` has none. A zygote that has ended counts as one
// without memory.
MemoryLimits LimitsFor(int zygote_pidfd, const MemoryAllowance& allowance,
                       bool maps_devices);

// Checks that a process cannot get more memory than `limits`. Fails with
// kSandboxUnavailable if the process can, and with kBackendLost if it has
// ended.
Status CheckMemoryLimits(int pidfd, const MemoryLimits& limits);

}  // namespace bulkhead::sandbox
