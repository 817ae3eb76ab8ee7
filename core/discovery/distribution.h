// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/discovery/entry_points.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// The suffix of the directories that hold a distribution's metadata.
inline constexpr std::string_view kDistInfoSuffix = ".dist-info";

// An installed package as its NAME-VERSION.dist-info directory describes it.
struct Distribution {
  std::string name;     // As METADATA spells it, if read; else as the folder.
  std::string version;  // The same. May be empty.
  std::string normalized_name;  // The folder's, which METADATA cannot change.
  bool has_metadata = false;    // METADATA was read and has that name.
  std::string directory;  // Which holds the dist-info and the package's files.
  std::string dist_info;  // The folder's name.
  std::vector<EntryPoint> entry_points;
  size_t place = 0;  // Which directory of the plugin path; see scan.h.

  std::string dist_info_path() const { return directory + "/" + dist_info; }
};

// Letters and digits, with "-", "_" and "." between them.
bool IsDistributionName(std::string_view text_untrusted);

// NAME and VERSION of "NAME-VERSION.dist-info". A name that was not normalised
// may contain "-": the version is what follows the last one.
struct FolderName {
  std::string name;
  std::string version;
};
std::optional<FolderName> ParseFolderName(std::string_view dist_info);

// Reads entry_points.txt of the folder `dist_info` of the open directory
// `directory_fd`, whose path `directory` is only for messages and the result.
// `plain` if it is known to be no link, which is quicker. The name and the
// version are the folder's. What is wrong with the file is a diagnostic; the
// call fails only where there is nothing that could be called a distribution.
// With `group`, only its entry points are of interest: a file that does not
// mention it is not looked into.
Result<Distribution> ReadDistribution(int directory_fd,
                                      const std::string& directory,
                                      const std::string& dist_info, bool plain,
                                      Diagnostics& diagnostics,
                                      std::string_view group = {});

// The second step, which not everybody needs: adopts the spelling of the name,
// and the version, that METADATA has.
void ReadMetadata(int directory_fd, bool plain, Distribution& distribution,
                  Diagnostics& diagnostics);

// A line of RECORD that names a file of the distribution.
struct RecordedFile {
  std::string path;  // Below the directory; cleaned, no "..".
  std::string hash;  // "sha256=...", or empty.

  bool operator==(const RecordedFile&) const = default;
};

// Reads RECORD, which lists all that was installed. Nothing if there is none;
// fails if there is one that cannot be read. Paths that lead out of the
// directory (scripts do: ../../bin/tool) are left out with a diagnostic,
// malformed lines too.
Result<std::optional<std::vector<RecordedFile>>> ReadRecord(
    int directory_fd, const Distribution& distribution,
    Diagnostics& diagnostics);

// The relative path without "." parts and doubled slashes; nothing if it is
// absolute, empty, has a ".." or a NUL.
std::optional<std::string> CleanedRelativePath(std::string_view path_untrusted);

}  // namespace bulkhead::discovery
