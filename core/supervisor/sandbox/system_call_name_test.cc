// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/system_call_name.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sys/syscall.h>

namespace bulkhead::sandbox {
namespace {

std::string Text(int number, uint32_t architecture) {
  const SystemCallName call = NameSystemCall(number, architecture);
  return call.name + " of " + call.architecture;
}

TEST(NameSystemCallTest, KnowsEachArchitectureOfThisProcessor) {
  EXPECT_EQ(Text(SYS_socket, AUDIT_ARCH_X86_64), "socket of x86_64");
  EXPECT_EQ(Text(SYS_read, AUDIT_ARCH_X86_64), "read of x86_64");
  EXPECT_EQ(Text(SYS_clone3, AUDIT_ARCH_X86_64), "clone3 of x86_64");
  EXPECT_EQ(Text(0x40000000 | SYS_getpid, AUDIT_ARCH_X86_64), "getpid of x32");
  EXPECT_EQ(Text(64, AUDIT_ARCH_I386), "getppid of i386");
}

TEST(NameSystemCallTest, WhatHasNoNameHasNone) {
  EXPECT_EQ(Text(100'000, AUDIT_ARCH_X86_64), " of x86_64");
  EXPECT_EQ(Text(-1, AUDIT_ARCH_X86_64), " of x86_64");
  EXPECT_EQ(Text(0x7fffffff, AUDIT_ARCH_X86_64), " of x32");
  EXPECT_EQ(Text(0, AUDIT_ARCH_AARCH64), " of 0xc00000b7");
}

}  // namespace
}  // namespace bulkhead::sandbox
