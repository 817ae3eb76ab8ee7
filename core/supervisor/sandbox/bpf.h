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
  // (seccomp_listener.h). A permitted call with Rule::asks waits in the same
  // way, until bulkheadd has decided. After the listener is closed, forbidden
  // calls and calls with Rule::asks fail with ENOSYS.
  kNotify,
};

// Compiles the filter for `table`.
std::vector<sock_filter> CompileFilter(const Table& table, Forbidden forbidden);

// Compiles a second, stricter filter, for a process that already has the first
// filter CompileFilter(below, kNotify). Only one filter of a process can have a
// listener, and the first one has it. A call that `table` forbids:
// - if `below` forbids it too: the first filter notifies bulkheadd, which
//   learns which call it was;
// - if `below` allows or answers it: SIGSYS ends the process, which must have
//   no handler for SIGSYS. Nobody learns which call it was, and the kernel logs
//   nothing.
std::vector<sock_filter> CompileFilterAbove(const Table& table,
                                            const Table& below);

// Compiles the filter of stage 2, for a process whose stage 1 was compiled with
// `forbidden`. It is a filter of CompileFilterAbove() if stage 1 notifies.
std::vector<sock_filter> SessionFilter(Forbidden forbidden,
                                       const GrantedCalls& granted = {});

// Returns the bytes of `filter` as a schema::Lockdown message (lockdown.h)
// contains them. The span is valid as long as `filter` is unchanged.
std::span<const std::byte> FilterBytes(const std::vector<sock_filter>& filter);

}  // namespace bulkhead::sandbox
