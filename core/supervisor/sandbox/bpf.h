// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <span>
#include <vector>

#include "core/supervisor/sandbox/syscall_tables.h"

namespace bulkhead::sandbox {

// Compiles a table of system calls (syscall_tables.h) to a seccomp program.
//
//     auto filter = CompileFilter(ReaperTable(), Forbidden::kKill);
//
// libseccomp is not used because it has no "first matching rule decides": it
// takes one comparison of an argument per rule and lets an unconditional rule
// swallow the conditional rules of the same call. A line such as "prctl: allow
// these three, EPERM for the rest" cannot be written with it, and every line of
// ours with conditions has that shape.
//
// The program finds the call by bisection and tries the rules of the call in
// order. Calls that no rule matches, architectures other than x86-64, and x32
// numbers are forbidden. The program is a pure function of the table;
// bpf_test.cc evaluates it for every call number.

// The kernel's reaction to a forbidden call, which it never executes.
enum class Forbidden {
  // The kernel kills the process, and reports to nobody for which call.
  kKill,
  // The calling thread waits in the kernel until the holder of the filter's
  // listener has killed the process (seccomp_listener.h). If nobody holds the
  // listener any more, the call fails with ENOSYS. Calls of rules that ask wait
  // in the same way until the holder has decided on them.
  kNotify,
};

// Compiles the filter for `table`.
std::vector<sock_filter> CompileFilter(const Table& table, Forbidden forbidden);

// Compiles a filter that is installed on top of CompileFilter(below, kNotify).
// A chain of filters may have only one listener, and the filter below has it.
// So a call that both filters forbid is left to the filter below, which names
// it. A call that only this filter forbids ends the process by SIGSYS, unnamed
// and without a line in the kernel's log. The process must not handle SIGSYS.
std::vector<sock_filter> CompileFilterAbove(const Table& table,
                                            const Table& below);

// Compiles the filter of stage 2 for use on top of a stage 1 that was compiled
// with `forbidden`.
std::vector<sock_filter> SessionFilter(Forbidden forbidden,
                                       const GrantedCalls& granted = {});

// Returns the bytes of `filter` as they travel in a Lockdown message. The span
// is valid as long as `filter` is unchanged.
std::span<const std::byte> FilterBytes(const std::vector<sock_filter>& filter);

}  // namespace bulkhead::sandbox
