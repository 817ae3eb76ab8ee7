// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/discovery/place_reading.h"
#include "core/discovery/plugin_path.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// The distributions that are installed on the plugin path.
struct Scan {
  std::vector<Distribution> distributions;
  Diagnostics diagnostics;
  std::vector<SearchedPlace> places;  // One for each directory.
};

struct ScanOptions {
  // If not empty, only entry points of this group are returned, in half the
  // time. METADATA is then read only for distributions with such an entry
  // point, and for distributions of which a directory has several versions; the
  // others get name and version from the folder. Problems of files that are not
  // needed are not reported.
  std::string group;
  // The most changed folders that one scan of ScanCache reads (scan_cache.h).
  size_t max_folders = 32768;
};

// Reads the metadata of every distribution on the path, in the order of the
// path and, within a directory, in byte order of the folder names. The same
// files give the same result on every file system.
//
// Several distributions may have the same normalized folder name. Then the
// first directory wins and, within a directory, the one with METADATA and the
// highest version; the others are reported. A distribution of Bulkhead's own is
// not hidden by an earlier one of the same name: both are returned.
//
// Never fails: a broken item becomes a diagnostic. Changes nothing and keeps no
// file open. Thread-safe. ScanCache is quicker for repeated scans.
Scan ScanPluginPath(const std::vector<SearchDirectory>& plugin_path,
                    const ScanOptions& options = {});

// Combines the readings of all directories to a scan.
Scan AssembleScan(std::vector<PlaceReading> readings);

}  // namespace bulkhead::discovery
