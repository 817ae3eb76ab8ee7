// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <span>
#include <vector>

#include "core/sandbox/syscall_tables.h"

namespace bulkhead::sandbox {

// Compiles a table of system calls to a seccomp program. Not with libseccomp:
// that has no "first matching rule decides". It takes one comparison of an
// argument per rule and lets an unconditional rule swallow the conditional ones
// of the same call, so "prctl: these three, EPERM for the rest" has no
// spelling, and that is the shape of every line of ours that has conditions.
//
// The program kills on any architecture but x86-64 and on x32 numbers, finds
// the call by bisection, and tries its rules in order. It is a pure function of
// the table; bpf_test.cc runs it in an evaluator over every call number.
std::vector<sock_filter> CompileFilter(const Table& table);

// The bytes, as they travel in a Lockdown message.
std::span<const std::byte> FilterBytes(const std::vector<sock_filter>& filter);

}  // namespace bulkhead::sandbox
