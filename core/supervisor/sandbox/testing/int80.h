// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::sandbox {

// Returns whether this machine executes system calls of i386, which a program
// makes by `int $0x80`. On some virtual machines the instruction ends a process
// by SIGSEGV before a filter sees a call. Tries it in a child process.
bool MachineTakesInt80();

}  // namespace bulkhead::sandbox
