// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace bulkhead::ipc {

// The number of instructions for which a worker reserves memory before it
// installs its last filter, the session's. It is the kernel's maximum for a
// filter: while the worker's seccomp() call waits, bulkheadd may replace the
// filter in this memory by a longer one.
inline constexpr size_t kRoomForFilter = BPF_MAXINSNS;

// The two seccomp filters of a lock-down that a backend's process builds for
// itself. bulkheadd builds the same filters: it lets a process install a filter
// only if that equals the expected filter byte for byte (core's ExpectedCalls).

// Returns the zygote's filter that refuses to send descriptors (sendmsg). It is
// installed after stage 1, which has to allow sendmsg, because the zygote sends
// the seccomp listener of stage 1 to bulkheadd.
std::vector<sock_filter> NoDescriptorsAreSent();

// Returns the filter of a session's worker that refuses signals to all
// processes but `pid`, the worker's own pid in its namespace. All sessions of a
// backend share a pid namespace, so on a kernel without Landlock's signal scope
// tgkill would reach the other sessions.
std::vector<sock_filter> OnlyItselfMayBeSignaled(pid_t pid);

}  // namespace bulkhead::ipc
