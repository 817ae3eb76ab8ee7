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
//     RETURN_IF_ERROR(CheckLoaded(zygote, loading));  // Once it is ready.
//     MemoryLimits limits = LimitsFor(zygote, allowance, loading);
//     ... clone the worker with these limits ...
//     RETURN_IF_ERROR(CheckMemoryLimits(worker, limits));
//
// A worker is a clone, so it has what its zygote has mapped, touched or not.
// That is hostile too: a vendor's object can map memory while it is loaded, or
// later, so that its sessions have more. Hence what a zygote has counts only up
// to LoadedMemory::most_bytes, and a worker that has more than its limits is
// refused like one that can get more.
//
// These functions read /proc, so the answer comes from the kernel and not from
// the hostile process. Thread-safe.

// The memory that a session's worker may have beyond its zygote's, in bytes.
struct MemoryAllowance {
  uint64_t private_bytes = 0;  // Limits::worker_bytes; 0 means no limit
  uint64_t shared_bytes = 0;   // Limits::session_bytes: frames and samples

  bool operator==(const MemoryAllowance&) const = default;
};

// The bound of the memory that a backend may have mapped when it is loaded.
struct LoadedMemory {
  uint64_t most_bytes = 0;  // Limits::load_bytes
  // True if device nodes were granted. A driver maps far more than it uses, so
  // then only private memory that can be written counts, and a worker has no
  // limit of its address space but its backend's (Limits::address_space_bytes
  // in policy.h).
  bool maps_devices = false;
};

// The two limits of a process in bytes; 0 means no limit.
struct MemoryLimits {
  uint64_t data_bytes = 0;
  uint64_t address_bytes = 0;
};

// Address space for what decoders reserve and do not use: stacks of threads and
// the arenas of malloc, which does with fewer arenas if it gets no more.
inline constexpr uint64_t kReservedBytes = uint64_t{256} << 20;

// Checks that a zygote that has loaded its backend has no more than
// `loading.most_bytes`. Fails with kBackendUnavailable if it has; the message
// says how an operator allows it. A zygote that has ended passes.
Status CheckLoaded(int zygote_pidfd, const LoadedMemory& loading);

// Returns the limits for a worker cloned from `zygote_pidfd`. All limits are 0
// if `allowance` has none. A zygote that has ended counts as one without
// memory.
MemoryLimits LimitsFor(int zygote_pidfd, const MemoryAllowance& allowance,
                       const LoadedMemory& loading);

// Checks that a process neither has nor can get more memory than `limits`.
// Fails with kSandboxUnavailable if it has or can, and with kBackendLost if it
// has ended.
Status CheckMemoryLimits(int pidfd, const MemoryLimits& limits);

}  // namespace bulkhead::sandbox
