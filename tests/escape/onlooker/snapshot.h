// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace bulkhead::tests {

// A snapshot is what the caller can read of processes and of the machine: a
// value for each name, such as "worker/task 0/status:SigBlk". Where the kernel
// refuses, the value is the name of the errno. Files that consist of named or
// numbered fields have a name for each field.
using Snapshot = std::map<std::string, std::string>;

// Reads all that is below /proc/PID. `role` is how the names begin.
Snapshot ReadProcess(const std::string& role, pid_t pid);

// Reads what the kernel shows of all processes together: sockets, locks,
// shared memory, keys.
Snapshot ReadMachine();

// Reads the names, sizes and times of what is in a directory.
Snapshot ReadDirectory(const std::string& path);

}  // namespace bulkhead::tests
