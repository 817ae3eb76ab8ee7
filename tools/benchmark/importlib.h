// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstddef>
#include <string>

namespace bulkhead::benchmark {

// How long Python's importlib.metadata takes over one directory, in a process
// of its own that has imported everything and has called it before.
struct ImportlibTimes {
  double of_group_ms = 0;  // entry_points(group=...), the median of several.
  size_t of_group = 0;     // How many it found.
  // The same for all groups, with each one's distribution and version.
  double with_versions_ms = 0;
  size_t all = 0;
  std::string python;  // Its version.
};

// kUnsupported where there is no python3 that has it.
Result<ImportlibTimes> TimeImportlib(const std::string& directory,
                                     const std::string& group);

}  // namespace bulkhead::benchmark
