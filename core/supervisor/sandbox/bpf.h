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
// libseccomp is not used because it cannot express that the first matching rule
// decides: an unconditional rule swallows the conditional rules of the same
// call. So it has no way to say "prctl: allow these three, EPERM for the rest",
// and most of our conditional rules are of that kind.
//
// The program finds the call by binary search and tries the call's rules in
// order. Calls that no rule matches, architectures other than x86-64, and x32
// numbers are forbidden. The program is a pure function of the table;
// bpf_test.cc evaluates it for every call number.

// The kernel's reaction to a forbidden call, which it never executes.
enum class Forbidden {
  // The kernel kills the process, and nobody learns which call it was.
  kKill,
  // The calling thread waits in the kernel, which notifies bulkheadd through
  // the filter's listener descriptor; bulkheadd kills the process
  // (seccomp_listener.h). A call with Rule::asks waits in the same way, until
  // bulkheadd has decided. Once nobody has the listener open, both kinds of
  // calls fail with ENOSYS.
  kNotify,
};

// Compiles the filter for `table`.
std::vector<sock_filter> CompileFilter(const Table& table, Forbidden forbidden);

// Compiles a second filter, for a process that already has the filter
// CompileFilter(below, kNotify). Only one filter of a process can have a
// listener, and that is the filter below. There are two kinds of forbidden
// calls:
// - forbidden by both filters: left to the filter below, so that bulkheadd
//   learns which call it was;
// - forbidden by this filter alone: ends the process by SIGSYS, which the
//   process must not handle. Nobody learns which call it was, and the kernel
//   logs nothing.
std::vector<sock_filter> CompileFilterAbove(const Table& table,
                                            const Table& below);

// Compiles the filter of stage 2, for a process whose stage 1 was compiled with
// `forbidden`.
std::vector<sock_filter> SessionFilter(Forbidden forbidden,
                                       const GrantedCalls& granted = {});

// Returns the bytes of `filter` as a Lockdown message contains them. The span
// is valid as long as `filter` is unchanged.
std::span<const std::byte> FilterBytes(const std::vector<sock_filter>& filter);

}  // namespace bulkhead::sandbox
