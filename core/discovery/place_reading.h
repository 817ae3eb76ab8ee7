// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/discovery/plugin_path.h"
#include "core/include/bulkhead/diagnostic.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// What a scan reads of one directory of the plugin path, before anybody decides
// which distributions count. scan.h puts readings together; scan_cache.h keeps
// those that have not changed.

// A directory of the plugin path and what came of it.
struct SearchedPlace {
  SearchDirectory directory;
  bool searched = false;
  int distributions = 0;  // Used; those shadowed are not counted.
  std::string outcome;    // "2 distributions", "does not exist", ...

  bool operator==(const SearchedPlace&) const = default;
};

// Something whose name ends in ".dist-info".
struct ListedFolder {
  std::string name;
  std::string normalized_name;  // Of the distribution. Empty: not a valid one.
  bool plain = false;           // A directory; not a link, nor anything else.
  bool has_rival = false;       // Another has the same normalized name.

  bool operator==(const ListedFolder&) const = default;
};

struct Listing {
  std::vector<ListedFolder> folders;  // In byte order.
  Diagnostics diagnostics;            // What looks like a folder and is none.

  bool operator==(const Listing&) const = default;
};

struct FolderReading {
  std::optional<Distribution> distribution;  // Nothing: ignored.
  bool metadata_read = false;                // It was needed.
  Diagnostics diagnostics;
};

struct PlaceReading {
  SearchedPlace place;
  Diagnostics diagnostics;  // Why it was not searched.
  Listing listing;
  std::vector<FolderReading> folders;  // One for each listed.
};

// Directories by device and inode, with the path first seen.
using SeenDirectories = std::map<std::pair<dev_t, ino_t>, std::string>;

// Opens the directory for listing; `info` is what fstat says of it. Without
// success, `reading` says why: it does not exist, cannot be read, or is one of
// those in `seen`, to which it is added otherwise.
ipc::UniqueFd OpenPlace(const SearchDirectory& directory, SeenDirectories& seen,
                        struct stat& info, PlaceReading& reading);

// `directory` is the path of `directory_fd`, for messages.
Listing ListFolders(int directory_fd, const std::string& directory);

// Reads entry_points.txt, of which only `group` is of interest unless it is
// empty. Reads METADATA if it is, or the distribution has an entry point of the
// group, or has a rival.
FolderReading ReadFolder(int directory_fd, const std::string& directory,
                         const ListedFolder& folder, const std::string& group);

}  // namespace bulkhead::discovery
