// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/discovery/place_reading.h"
#include "core/discovery/plugin_path.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

struct Scan {
  std::vector<Distribution> distributions;
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;  // One for each directory asked for.
};

struct ScanOptions {
  // Empty: all groups. Otherwise only this one is of interest, and only its
  // entry points are in the result. METADATA is then read only of the
  // distributions that have one, and of those of which a directory has several
  // versions; the others have the name and the version of the folder. What is
  // wrong with files that do not matter is not reported. Takes half the time.
  std::string group;
};

// Reads the metadata of every distribution on the path, in path order and in
// byte order of the folders' names within a directory. The same files give the
// same result whatever the file system. Of distributions with one normalized
// name, which is that of the folder, the first directory's counts and, within a
// directory, the one that has METADATA and the highest version; the others are
// reported. Never fails: each broken item is a diagnostic on that item. Reads
// files, changes nothing, keeps nothing open. Thread-safe. Who scans again and
// again has ScanCache.
Scan ScanPluginPath(const std::vector<SearchDirectory>& plugin_path,
                    const ScanOptions& options = {});

// Decides between the distributions that have been read.
Scan AssembleScan(std::vector<PlaceReading> readings);

}  // namespace bulkhead::discovery
