// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace bulkhead::benchmark {

// Returns `process` and all of its descendants that run now.
std::vector<pid_t> FamilyOf(pid_t process);

// Returns the sum of the proportional set sizes (PSS) of the processes in MB
// (10^6 bytes): a page that only these processes share counts once. Leaves out
// processes that have ended. Returns kUnsupported if this user may not read the
// PSS.
Result<double> PssMegabytes(const std::vector<pid_t>& processes);

// Returns this process and the host's bulkheadd, which is not a child of this
// process, with all their descendants.
std::vector<pid_t> ProcessesOf(const Host& host);

// Returns the PSS of ProcessesOf(host), after the allocator of this process has
// returned unused memory to the kernel.
Result<double> MegabytesOf(const Host& host);

// Waits until ProcessesOf(host) has at most `count` processes. Returns
// kInternal after 10 s.
Status AwaitAtMost(const Host& host, size_t count);

// Returns the number of descriptors that this process has open.
int OpenDescriptors();

// Returns the memory that is still available on the machine, in MB.
double AvailableMegabytes();

}  // namespace bulkhead::benchmark
