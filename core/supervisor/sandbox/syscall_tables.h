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
// decides. A call that no rule matches ends the process, since no honest
// decoder makes it. Some calls are not allowed but tried by honest libraries: a
// rule answers them with an errno, after which the libraries go on.
//
// A worker is under the filters of both stages, and the kernel applies the
// strictest answer. So the zygote's table contains the session's table. A test
// checks that the zygote's table ends no process for a call that the session's
// table allows or answers.

// A condition on one argument of a call: (argument & mask) == value. For an
// argument that the kernel takes as int, the mask has only the low 32 bits,
// since the kernel ignores the others.
struct Condition {
  unsigned argument;  // Counted from 0.
  uint64_t mask;
  uint64_t value;
};

struct Rule {
  int syscall;
  std::vector<Condition> when;  // All must hold; empty means always.
  int error;                    // The errno that is returned; 0 allows.
  std::string_view reason;
  // True if the call waits until bulkheadd has decided on it. Where the kernel
  // cannot notify bulkheadd (Forbidden::kKill), the call is allowed.
  bool asks = false;
};

using Table = std::vector<Rule>;

// Returns the table of the reaper: pid 1 of the sandbox, Bulkhead's own code.
// It may reap and kill its children and talk to bulkheadd. It installs its
// filter after it has started the zygote.
Table ReaperTable();

// Returns the table of stage 1, for a zygote: vendor code that has seen no
// media. It may read the visible files, map code, and clone session workers. It
// may start no other process, open no socket and write to no file.
Table ZygoteTable();

// Returns the table of stage 2, for a session worker: code that parses hostile
// media. It may compute in threads, on the memory and descriptors that it was
// given. A further filter limits tgkill to the worker itself. The worker builds
// this filter, since it contains the worker's pid.
Table SessionTable();

// The calls that grants add to both stages. A filter sees neither paths nor
// kinds of descriptors. So the new root and Landlock decide which devices can
// be opened. An allowed ioctl passes the filter with any descriptor; the kernel
// refuses it where the file or device does not know it.
struct GrantedCalls {
  std::vector<uint8_t> ioctl_types;  // Bits 8 to 15 of the request.
  bool devices = false;              // True if any device can be opened.
  // True if a worker has only the descriptors that bulkheadd gives it. Then its
  // shared memory has the descriptor numbers of ipc/descriptors.h, and the
  // filter lets the worker map no others.
  bool fixed_descriptors = true;
};

// Return the tables with grants. With devices, stage 1 may open files for
// writing too, but not create or truncate them. In stage 2 nothing may be
// opened: the zygote has opened the devices that a session needs.
Table ZygoteTableWith(const GrantedCalls& granted);
Table SessionTableWith(const GrantedCalls& granted);

// Returns whether a rule of ZygoteTable() with Rule::asks decides on this call.
// bulkheadd has to check this for each notification, since the kernel sends the
// same one for a forbidden call.
bool IsAsked(int syscall, std::span<const uint64_t, 6> arguments);

}  // namespace bulkhead::sandbox
