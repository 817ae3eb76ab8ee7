// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bulkhead::sandbox {

// For people: what seccomp saw as a number. From tables that are made of the
// kernel headers at build time (BUILD), so a call that is newer than those has
// no name.

struct SystemCallName {
  std::string name;          // empty: the number has none
  std::string architecture;  // "x86_64", "x32", "i386", or in hexadecimal
};

// `architecture` is an AUDIT_ARCH_*. The numbers of x32 are those of x86-64
// with bit 30 set, and most mean the same.
SystemCallName NameSystemCall(int number, uint32_t architecture);

}  // namespace bulkhead::sandbox
