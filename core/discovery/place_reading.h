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

// The reading of one directory of the plugin path. scan.h then combines the
// readings of all directories and chooses among distributions of the same name;
// scan_cache.h keeps the readings that have not changed.

// A directory of the plugin path and a summary of the distributions found
// there.
struct SearchedPlace {
  SearchDirectory directory;
  bool searched = false;
  int distributions = 0;  // Those that no earlier directory hides (scan.h).
  std::string outcome;    // "2 distributions", "does not exist", ...

  bool operator==(const SearchedPlace&) const = default;
};

// An entry of a directory whose name ends in ".dist-info".
struct ListedFolder {
  std::string name;
  std::string normalized_name;  // Empty if the name is not valid.
  bool plain = false;           // A real directory, not a link to one.
  bool has_rival = false;       // Another folder has the same normalized name.

  bool operator==(const ListedFolder&) const = default;
};

// The .dist-info folders of one directory.
struct Listing {
  std::vector<ListedFolder> folders;  // In byte order.
  Diagnostics diagnostics;            // About similar names, such as .egg-info.

  bool operator==(const Listing&) const = default;
};

// The result of reading one folder.
struct FolderReading {
  std::optional<Distribution>
      distribution;            // nullopt if the folder is ignored.
  bool metadata_read = false;  // METADATA was needed and read.
  Diagnostics diagnostics;
};

// The result of reading one directory.
struct PlaceReading {
  SearchedPlace place;
  Diagnostics diagnostics;  // Say why the directory was not searched.
  Listing listing;
  std::vector<FolderReading> folders;  // One for each entry of listing.folders.
};

// The directories that were opened, by device and inode, with their first path.
using SeenDirectories = std::map<std::pair<dev_t, ino_t>, std::string>;

// Opens a directory for listing, fills `info` with its attributes and adds the
// directory to `seen`. Sets reading.place. Returns an empty descriptor if the
// directory does not exist, cannot be read or is in `seen` already; `reading`
// then says why.
ipc::UniqueFd OpenPlace(const SearchDirectory& directory, SeenDirectories& seen,
                        struct stat& info, PlaceReading& reading);

// Lists the .dist-info folders. `directory`, the path of `directory_fd`, is
// used for messages.
Listing ListFolders(int directory_fd, const std::string& directory);

// Reads entry_points.txt and, if needed, METADATA. With `group`, returns only
// entry points of that group. METADATA is needed if `group` is empty, if the
// distribution has an entry point of the group, or if the folder has a rival.
FolderReading ReadFolder(int directory_fd, const std::string& directory,
                         const ListedFolder& folder, const std::string& group);

}  // namespace bulkhead::discovery
