// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::sandbox {

// For tests of system calls of i386. Returns whether this machine takes them by
// `int $0x80`. Some virtual machines do not: there the instruction ends a
// process by SIGSEGV before a filter sees a call. Finds out with a child
// process.
bool MachineTakesInt80();

}  // namespace bulkhead::sandbox
