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

// The functions below examine the resource limits (ulimit) that the application
// was started with. bulkheadd and the processes of all its backends inherit
// them. A backend that fails under low limits may be sound, so such a failure
// never counts against the backend in other applications of the user. The
// message of the failure names the limit to raise.
//
// They examine only the limits that many systems set lower than a backend
// needs: address space, private memory, stack, open files, and processes.

// Returns the limits of this process that are lower than a backend may need, in
// words: "61440 KiB of address space (ulimit -v)". Returns an empty string if
// there are none.
std::string LowLimits();

// The number of open files of this process, and its soft limit on that number.
struct OpenFiles {
  uint64_t open = 0;
  uint64_t limit = 0;
};

// Counts the open files of this process. The time that this takes grows with
// their number.
OpenFiles CountOpenFiles();

// Returns the open files of this process if it may soon run out of descriptors:
// if the open files are nine tenths of the limit or more, or if fewer than
// `spare` more can be opened. Returns nullopt if not. `newest` is a descriptor
// that was opened just now. Cheap enough to be called for each new descriptor,
// since it counts the files only in two cases. Either `newest` alone shows that
// the limit is near: the kernel gives out the lowest free number, so at least
// newest + 1 files are open. Or the last number below the limit is in use: many
// files may then have numbers above `newest`.
std::optional<OpenFiles> NearOpenFiles(int newest, uint64_t spare);

// Returns the limit on the processor time of a process, in seconds; nullopt if
// there is none. The kernel ends a process at the limit by SIGKILL.
std::optional<uint64_t> ProcessorSeconds();

// Returns whether a message of the kernel, of the dynamic linker or of the
// standard library says that memory, processes or descriptors ran out.
bool SaysExhausted(const std::string& text);

// Returns a clause that names `low_limits` (from LowLimits()) and says what to
// do.
std::string RaiseTheLimits(const std::string& low_limits);

// Returns `failure` with advice about limits added to its message, if the
// message says that something ran out. The advice names the low limits of this
// process. Without low limits, it names the limit on processes or on open
// files, if one of them ran out. In all other cases, and if the message names a
// limit already, returns `failure` unchanged.
Status NamingLimits(const Status& failure);

}  // namespace bulkhead
