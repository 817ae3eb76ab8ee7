// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::tests {

// What the kernel tells anybody of a process. Nothing here asks the process.

// The lines of a file `status` below `directory`: "Uid" and what follows it.
std::map<std::string, std::string> StatusOf(const std::string& directory);
// Of every thread of a process.
std::vector<std::map<std::string, std::string>> StatusOfThreads(int pid);

// The hard limit in the line of /proc/PID/limits that begins with `name`:
// "unlimited", or a number.
std::string LimitOf(int pid, std::string_view name);

// /proc/PID/NAME, whole.
std::string FileOf(int pid, const std::string& name);

// Which of the six namespaces of tier full a process shares with this one, by
// name. A name with '?': the kernel does not let us look.
std::vector<std::string> SharedNamespaces(int pid);

// Who has `parent` for a parent.
std::vector<int> ChildrenOf(int parent);

}  // namespace bulkhead::tests
