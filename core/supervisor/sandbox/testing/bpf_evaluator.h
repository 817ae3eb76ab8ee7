// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>

namespace bulkhead::sandbox {

// Returns what the kernel would answer for one system call under one filter: a
// SECCOMP_RET_* value. Knows the instructions that CompileFilter and
// KeptFromFiles use. Throws std::runtime_error for any other instruction and
// for a jump or a load out of bounds.
uint32_t EvaluateFilter(std::span<const sock_filter> program,
                        const seccomp_data& call);

}  // namespace bulkhead::sandbox
