// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/system_call_name.h"

#include <linux/audit.h>

#include <cstdio>
#include <span>

namespace bulkhead::sandbox {
namespace {

constexpr int kX32Bit = 0x40000000;

struct Entry {
  int number;
  const char* name;
};

constexpr Entry kX86_64[] = {
#include "core/supervisor/sandbox/system_calls_x86_64.inc"
};

constexpr Entry kI386[] = {
#include "core/supervisor/sandbox/system_calls_i386.inc"
};

std::string Find(std::span<const Entry> table, int number) {
  for (const Entry& entry : table) {
    if (entry.number == number) return entry.name;
  }
  return "";
}

}  // namespace

SystemCallName NameSystemCall(int number, uint32_t architecture) {
  switch (architecture) {
    case AUDIT_ARCH_X86_64:
      if (number >= kX32Bit) return {Find(kX86_64, number - kX32Bit), "x32"};
      return {Find(kX86_64, number), "x86_64"};
    case AUDIT_ARCH_I386:
      return {Find(kI386, number), "i386"};
    default:
      break;
  }
  char digits[16];
  std::snprintf(digits, sizeof(digits), "0x%08x", architecture);
  return {"", digits};
}

}  // namespace bulkhead::sandbox
