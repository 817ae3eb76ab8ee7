// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace bulkhead::ipc {

// The memory that a worker has for its last filter, in which bulkheadd puts one
// that is longer: the size of the largest that the kernel takes.
inline constexpr size_t kRoomForFilter = BPF_MAXINSNS;

// The two filters of a lock-down that a backend's process builds for itself.
// bulkheadd builds them too: it lets a process install a filter only if the
// filter is, byte for byte, the one that it expects (core's ExpectedCalls).

// Returns the filter of a zygote that refuses to send descriptors. The filter
// below it has to allow that, so that its listener can be sent.
std::vector<sock_filter> NoDescriptorsAreSent();

// Returns the filter of a session's worker that refuses signals to all
// processes but `pid`, the worker itself as it sees its own pid. All sessions
// of a backend share a pid namespace, so without Landlock's signal scope tgkill
// would reach the other sessions.
std::vector<sock_filter> OnlyItselfMayBeSignaled(pid_t pid);

}  // namespace bulkhead::ipc
