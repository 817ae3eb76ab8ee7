// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::supervisor {

// Resource limits that the application was started with. bulkheadd and the
// processes of all its backends inherit them. A backend that fails under them
// may be sound, so such a failure is never held against it elsewhere: the same
// backend serves every other application of the user.
//
// Only limits that a backend can hit while it starts count: address space,
// private memory, open files, and processes.

// Returns the limits of this process that are lower than what a backend may
// use, in words: "61440 KiB of address space (ulimit -v)". Returns an empty
// string if there are none.
std::string LowLimits();

// Returns whether a message of the kernel, of the dynamic linker or of the
// standard library says that memory, processes or descriptors ran out.
bool SaysExhausted(const std::string& text);

// Returns the sentence that names the limits and says what to do.
std::string RaiseTheLimits(const std::string& low_limits);

}  // namespace bulkhead::supervisor
