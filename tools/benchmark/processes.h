// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace bulkhead::benchmark {

// Returns `process` and all of its descendants that run now.
std::vector<pid_t> FamilyOf(pid_t process);

// Returns the proportional set size of the processes in MB (10^6 bytes): a page
// that several processes share counts once. Leaves out processes that have
// ended. kUnsupported if this user may not ask.
Result<double> PssMegabytes(const std::vector<pid_t>& processes);

// Returns this process, the host's bulkheadd, which is no child of it, and all
// their descendants.
std::vector<pid_t> ProcessesOf(const Host& host);

// Returns the PSS of ProcessesOf(host), after this process has given back what
// it does not use.
Result<double> MegabytesOf(const Host& host);

// Waits until ProcessesOf(host) are at most `count`. kInternal after 10 s.
Status AwaitAtMost(const Host& host, size_t count);

// Returns the number of descriptors that this process has open.
int OpenDescriptors();

// Returns the memory that the machine can still give, in MB.
double AvailableMegabytes();

}  // namespace bulkhead::benchmark
