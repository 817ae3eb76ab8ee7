// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bulkhead::sandbox {

// Names system calls for messages, since seccomp reports only their numbers.
// The tables are made from the kernel headers at build time (BUILD), so a call
// that is newer than the headers has no name.

struct SystemCallName {
  std::string name;          // Empty if the call is not in the tables.
  std::string architecture;  // "x86_64", "x32", "i386", or "0x...".
};

// Returns the name of call `number`. `architecture` is an AUDIT_ARCH_* value.
// An x32 call has the number of the same call of x86-64 with bit 30 set, except
// for a few calls.
SystemCallName NameSystemCall(int number, uint32_t architecture);

}  // namespace bulkhead::sandbox
