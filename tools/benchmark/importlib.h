// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstddef>
#include <string>

namespace bulkhead::benchmark {

// The times that Python's importlib.metadata takes to list the entry points in
// one directory. Measured in a new process, after all imports and a first call.
struct ImportlibTimes {
  double of_group_ms = 0;  // The median of entry_points(group=...).
  size_t of_group = 0;     // The number of entry points in the group.
  // The median of listing all groups, with the distribution and version of each
  // entry point.
  double with_versions_ms = 0;
  size_t all = 0;      // The number of entry points in all groups.
  std::string python;  // The version of Python.
};

// Measures the entry points in `directory`. Returns kUnsupported if no python3
// with importlib.metadata is installed.
Result<ImportlibTimes> TimeImportlib(const std::string& directory,
                                     const std::string& group);

}  // namespace bulkhead::benchmark
