// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/discovery/plugin_path.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// One directory of the plugin path and what came of it.
struct SearchedPlace {
  SearchDirectory directory;
  bool searched = false;
  int distributions = 0;  // Used; those shadowed are not counted.
  std::string outcome;    // "2 distributions", "does not exist", ...
};

struct Scan {
  std::vector<Distribution> distributions;
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;  // One for each directory asked for.
};

// Reads the metadata of every distribution on the path, in path order and in
// byte order of the folders' names within a directory. The same files give the
// same result whatever the file system. Of distributions with one normalized
// name the first directory's counts and, within a directory, the one that has
// METADATA and the highest version; the others are reported. Never fails: each
// broken item is a diagnostic on that item. Reads files, changes nothing,
// keeps nothing open. Thread-safe.
Scan ScanPluginPath(const std::vector<SearchDirectory>& plugin_path);

}  // namespace bulkhead::discovery
