// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <istream>
#include <string>
#include <string_view>

namespace bulkhead {

// Returns the pid of a pidfd's process in this process' pid namespace. While
// the descriptor is open, no other process can have that pid. Returns 0 if the
// process is dead or not in this namespace, or if /proc is missing.
pid_t PidOf(int pidfd);

// Returns whether the process has ended, reaped or not. Returns true if `pidfd`
// is not a pidfd.
bool HasEnded(int pidfd);

// Returns whether the process is stopped, by a signal or a debugger, and does
// nothing until it is continued. Returns false if /proc is missing.
bool IsStopped(int pidfd);

// Returns the rest of the first line that begins with `key`, in a file of
// /proc; empty if there is no such line. Read files of /proc by lines, not by
// words: the file contains the name of the process, and a hostile process may
// name itself "State: T".
std::string LineOf(std::istream& file, std::string_view key);

}  // namespace bulkhead
