// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::tests {

// Reads facts about a process from the kernel. Nothing here asks the process
// itself.

// Returns the lines of the file `status` in `directory` (below /proc), for
// example "Uid" with the text after the colon.
std::map<std::string, std::string> StatusOf(const std::string& directory);
// Returns StatusOf() every thread of a process.
std::vector<std::map<std::string, std::string>> StatusOfThreads(int pid);

// Returns the hard limit in the line of /proc/PID/limits that begins with
// `name`: "unlimited" or a number.
std::string LimitOf(int pid, std::string_view name);

// Returns the contents of /proc/PID/NAME.
std::string FileOf(int pid, const std::string& name);

// Returns the names of the namespaces, among the six of the full tier, that a
// process shares with this one. A name ends in '?' if the kernel does not say.
std::vector<std::string> SharedNamespaces(int pid);

// Returns the pids of the children of `parent`.
std::vector<int> ChildrenOf(int parent);

}  // namespace bulkhead::tests
