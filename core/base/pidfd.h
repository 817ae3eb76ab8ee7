// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <istream>
#include <string>
#include <string_view>

namespace bulkhead {

// Returns the pid of a pidfd's process in this process' pid namespace. While
// the descriptor is open, no other process can have that pid. Returns 0 if the
// process is dead or not in our namespace, or if /proc is missing.
pid_t PidOf(int pidfd);

// Returns whether the process has ended, reaped or not; true if `pidfd` is not
// a pidfd.
bool HasEnded(int pidfd);

// Returns whether the process was stopped, by a signal or a debugger, and does
// nothing until it is continued; false if /proc is missing.
bool IsStopped(int pidfd);

// Returns what follows `key` in the first line of a file of /proc that begins
// with it; empty if no line does. A process gives itself a name of several
// words, such as "State: T", so that the files are no lists of words.
std::string LineOf(std::istream& file, std::string_view key);

}  // namespace bulkhead
