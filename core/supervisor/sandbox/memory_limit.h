// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// Limits the memory of a session's worker. A new worker sets two limits before
// stage 2, after which it cannot raise them:
//
//   RLIMIT_DATA  private writable memory. At the limit, an allocation fails.
//   RLIMIT_AS    all mapped memory. Unlike RLIMIT_DATA, this counts pages that
//                were written and then made read-only.
//
//     RETURN_IF_ERROR(CheckLoaded(zygote, loading));  // Once it is ready.
//     MemoryLimits limits = LimitsFor(zygote, allowance, loading);
//     ... clone the worker with these limits ...
//     RETURN_IF_ERROR(CheckMemoryLimits(worker, limits));
//
// A worker is a clone of its zygote, so its limits include the memory that the
// zygote has mapped. A hostile plugin could map much memory there to raise the
// limits of its workers. Therefore the zygote's memory counts only up to
// LoadedMemory::most_bytes, and CheckMemoryLimits() refuses a worker that has
// more than its limits.
//
// These functions read /proc, so the answer comes from the kernel and not from
// the hostile process. Thread-safe.

// The memory in bytes that a session's worker may have in addition to the
// memory of its zygote.
struct MemoryAllowance {
  // Limits::worker_bytes of host_options.h; 0 means no limit.
  uint64_t private_bytes = 0;
  // Limits::session_bytes of host_options.h: the slots of frames and samples.
  uint64_t shared_bytes = 0;

  bool operator==(const MemoryAllowance&) const = default;
};

// The limit on the memory that a backend may have mapped when it is loaded.
struct LoadedMemory {
  uint64_t most_bytes = 0;  // Limits::load_bytes of policy.h
  // True if device nodes were granted. A driver maps far more than it uses.
  // Then only private writable memory counts, and the address space of a worker
  // is limited only by Limits::address_space_bytes (policy.h).
  bool maps_devices = false;
};

// The two limits of a process in bytes; 0 means no limit.
struct MemoryLimits {
  uint64_t data_bytes = 0;
  uint64_t address_bytes = 0;
};

// The address space that LimitsFor() adds for memory that decoders reserve and
// do not use: thread stacks and malloc's arenas. With less, malloc uses fewer.
inline constexpr uint64_t kReservedBytes = uint64_t{256} << 20;

// Checks that a zygote has mapped at most `loading.most_bytes`. Call it when
// the zygote has loaded its plugin. Fails with kBackendUnavailable if the
// zygote has more; the message says how an operator allows that. A zygote that
// has ended passes.
Status CheckLoaded(int zygote_pidfd, const LoadedMemory& loading);

// Returns the limits for a worker that is a clone of `zygote_pidfd`. Both are 0
// (no limit) if `allowance.private_bytes` is 0. A zygote that has ended counts
// as one without memory.
MemoryLimits LimitsFor(int zygote_pidfd, const MemoryAllowance& allowance,
                       const LoadedMemory& loading);

// Checks that a process has no more memory than `limits` and that its resource
// limits are no higher. Fails with kSandboxUnavailable if one of them is
// higher, and with kBackendLost if the process has ended.
Status CheckMemoryLimits(int pidfd, const MemoryLimits& limits);

}  // namespace bulkhead::sandbox
