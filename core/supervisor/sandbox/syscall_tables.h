// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bulkhead::sandbox {

// The system calls that each kind of sandboxed process may make, as tables that
// a person can review line by line. bpf.h turns them into filters.
//
// Rules are tried from the top; the first one whose call and conditions match
// decides. A call that no rule matches ends the process: such calls are made by
// no honest decoder. Calls that honest libraries merely try are answered with
// an errno, after which the libraries go on.
//
// The kernel applies the strictest of all installed filters. So the zygote's
// table contains the session's, and a test asserts that nothing the session
// may do, or is answered, kills under the zygote's.

// A condition on one argument of a call: (argument & mask) == value. Arguments
// that the kernel takes as int are compared in their low 32 bits only, since
// the caller chooses the rest freely.
struct Condition {
  unsigned argument;
  uint64_t mask;
  uint64_t value;
};

struct Rule {
  int syscall;
  std::vector<Condition> when;  // All must hold; empty means always.
  int error;                    // The errno that is returned; 0 allows.
  std::string_view reason;
  // True if bulkheadd decides on the call, which waits for the answer. Where
  // the kernel cannot ask (Forbidden::kKill), the call is allowed.
  bool asks = false;
};

using Table = std::vector<Rule>;

// The reaper: pid 1 of the sandbox, Bulkhead's own code. It waits, reaps, kills
// its children and talks to bulkheadd. Installed after the zygote was started.
Table ReaperTable();

// Stage 1, for a zygote: vendor code that has seen no media. It may read the
// visible files, map code, and clone session workers. It may start no other
// process, open no socket and write to no file.
Table ZygoteTable();

// Stage 2, for a session worker: code that parses hostile media. It computes in
// threads, on the memory and descriptors that it was given. The worker itself
// limits tgkill to its own process, since only it knows its pid.
Table SessionTable();

// The calls that grants add to both stages. A filter sees neither paths nor the
// kind of a descriptor. So the new root and Landlock decide which devices can
// be opened, and an allowed ioctl fails on a descriptor that does not know it.
struct GrantedCalls {
  std::vector<uint8_t> ioctl_types;  // Bits 8 to 15 of the request.
  bool devices = false;              // True if any device can be opened.
  // True if a worker has none but the descriptors that bulkheadd gives it, so
  // that its memory's descriptors have the numbers of ipc/descriptors.h.
  bool fixed_descriptors = true;
};

// Stage 1 with grants: devices may be opened for writing too, but nothing may
// be created or truncated. Stage 2 with grants opens nothing: the zygote opens,
// while loading, the devices that a session needs.
Table ZygoteTableWith(const GrantedCalls& granted);
Table SessionTableWith(const GrantedCalls& granted);

// Returns whether ZygoteTable() leaves a call with these arguments to
// bulkheadd. The kernel reports to bulkheadd the calls that no rule matches in
// the same way.
bool IsAsked(int syscall, std::span<const uint64_t, 6> arguments);

}  // namespace bulkhead::sandbox
