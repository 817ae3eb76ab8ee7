// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bulkhead::sandbox {

// Names system calls that seccomp reports by number, for people. The tables are
// made from the kernel headers at build time (BUILD), so a call that is newer
// than the headers has no name.

struct SystemCallName {
  std::string name;          // Empty if the number has no name.
  std::string architecture;  // "x86_64", "x32", "i386", or "0x...".
};

// Returns the name of call `number`. `architecture` is an AUDIT_ARCH_* value.
// A number of x32 is a number of x86-64 with bit 30 set, and most of them mean
// the same call.
SystemCallName NameSystemCall(int number, uint32_t architecture);

}  // namespace bulkhead::sandbox
