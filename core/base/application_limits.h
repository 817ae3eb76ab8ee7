// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/include/bulkhead/status.h"

namespace bulkhead {

// The limits that each process of a backend has by default (sandbox::Limits).
inline constexpr uint64_t kBackendAddressSpaceBytes = uint64_t{16} << 30;
inline constexpr uint64_t kBackendOpenFiles = 256;

// Resource limits that the application was started with. bulkheadd and the
// processes of all its backends inherit them. A backend that fails under them
// may be sound, so such a failure is never held against it elsewhere: the same
// backend serves every other application of the user. Whoever reads of the
// failure reads which limit to raise.
//
// Only limits that a backend needs more of than many systems allow count:
// address space, private memory, the stack, open files, and processes.

// Returns the limits of this process that are lower than what a backend may
// use, in words: "61440 KiB of address space (ulimit -v)". Returns an empty
// string if there are none.
std::string LowLimits();

// The open files of this process, and its soft limit on their number.
struct OpenFiles {
  uint64_t open = 0;
  uint64_t limit = 0;
};

// Counts the open files of this process, which takes time for each of them.
OpenFiles CountOpenFiles();

// Returns the open files of this process if it has nine tenths of those that it
// may have, or room for fewer than `spare` more; nullopt otherwise. `newest` is
// a descriptor that was opened just now. The files are counted only where
// `newest`, or a descriptor at the limit, shows that there may be so many. Who
// calls this for each descriptor hears of it before one cannot be opened.
std::optional<OpenFiles> NearOpenFiles(int newest, uint64_t spare);

// Returns the limit on the processor time of a process, in seconds; nullopt if
// there is none. The kernel ends a process at the limit by SIGKILL.
std::optional<uint64_t> ProcessorSeconds();

// Returns whether a message of the kernel, of the dynamic linker or of the
// standard library says that memory, processes or descriptors ran out.
bool SaysExhausted(const std::string& text);

// Returns the sentence that names the limits and says what to do.
std::string RaiseTheLimits(const std::string& low_limits);

// Returns `failure` with the low limits of this process named. If there are
// none, names those that others set on processes and files if one of these ran
// out. Returns it unchanged if its message does not say that something ran out,
// or names a limit of the system already.
Status NamingLimits(const Status& failure);

}  // namespace bulkhead
