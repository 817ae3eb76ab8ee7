// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <span>
#include <vector>

#include "core/supervisor/sandbox/syscall_tables.h"

namespace bulkhead::sandbox {

// Compiles a table of system calls to a seccomp program. Not with libseccomp:
// that has no "first matching rule decides". It takes one comparison of an
// argument per rule and lets an unconditional rule swallow the conditional ones
// of the same call, so "prctl: these three, EPERM for the rest" has no
// spelling, and that is the shape of every line of ours that has conditions.
//
// The program finds the call by bisection and tries its rules in order. What no
// rule matches, any architecture but x86-64, and x32 numbers are forbidden. It
// is a pure function of the table; bpf_test.cc runs it in an evaluator over
// every call number.

// What becomes of a forbidden call. It is not executed in any case.
enum class Forbidden {
  // The kernel kills the process, and tells nobody for which call.
  kKill,
  // The caller waits until whoever holds the filter's listener has killed it
  // (violation_listener.h). ENOSYS where nobody holds it any more.
  kNotify,
};

std::vector<sock_filter> CompileFilter(const Table& table, Forbidden forbidden);

// For a filter that is installed on top of CompileFilter(below, kNotify), which
// has the only listener that a chain of filters may have. What both forbid is
// left to that one to tell. What this one alone forbids kills unnamed.
std::vector<sock_filter> CompileFilterAbove(const Table& table,
                                            const Table& below);

// Stage 2 on top of a stage 1 that was compiled with `forbidden`.
std::vector<sock_filter> SessionFilter(Forbidden forbidden,
                                       const GrantedCalls& granted = {});

// The bytes, as they travel in a Lockdown message.
std::span<const std::byte> FilterBytes(const std::vector<sock_filter>& filter);

}  // namespace bulkhead::sandbox
