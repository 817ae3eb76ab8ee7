// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bulkhead::sandbox {

// Which system calls each kind of sandboxed process may make, as tables that a
// person can review line by line. bpf.h turns them into filters.
//
// Rules are tried from the top; the first whose syscall and conditions match
// decides. A call that no rule matches ends the process: that is for calls
// which no honest decoder makes. What honest libraries merely probe is answered
// with an errno, on which they go on.
//
// The kernel applies the strictest of all installed filters. So the zygote's
// table contains the session's, and a test asserts that nothing the session
// may do, or is answered, kills under the zygote's.

// Holds when (argument & mask) == value. Arguments that the kernel takes as int
// are compared in their low 32 bits only: the rest is the caller's to choose.
struct Condition {
  unsigned argument;
  uint64_t mask;
  uint64_t value;
};

struct Rule {
  int syscall;
  std::vector<Condition> when;  // all of them; none is always
  int error;                    // 0: allow
  std::string_view reason;
};

using Table = std::vector<Rule>;

// pid 1, our code: waits, reaps, kills its children and talks to bulkheadd.
// Installed after it has started the zygote.
Table ReaperTable();

// Stage 1, around vendor code that has seen no media: may read the files that
// are visible, map code, and clone session workers. No other processes, no
// sockets, no write access to any file.
Table ZygoteTable();

// Stage 2, around code that parses hostile media: computes in threads, on
// memory and descriptors that it was given. tgkill is limited to its own
// process by the worker itself, which alone knows its pid.
Table SessionTable();

// What grants add to both. A filter sees neither paths nor what a descriptor
// is: which devices can be opened is up to the root and to Landlock, and an
// ioctl that is allowed here fails on a descriptor that does not know it.
struct GrantedCalls {
  std::vector<uint8_t> ioctl_types;  // bits 8 to 15 of the request
  bool devices = false;              // some can be opened
};

// Stage 1: devices may be opened for writing too, nothing may be created or
// truncated. Stage 2 opens nothing: what a session needs of a device, its
// zygote has opened while loading.
Table ZygoteTableWith(const GrantedCalls& granted);
Table SessionTableWith(const GrantedCalls& granted);

}  // namespace bulkhead::sandbox
