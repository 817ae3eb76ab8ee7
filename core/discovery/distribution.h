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
  std::string name;             // From METADATA, or from the folder's name.
  std::string version;          // From METADATA or the folder; may be empty.
  std::string normalized_name;  // From the folder's name alone.
  bool has_metadata = false;    // METADATA was read, and its Name fits.
  std::string directory;        // Holds the dist-info and the package's files.
  std::string dist_info;        // The name of the dist-info folder.
  std::vector<EntryPoint> entry_points;
  size_t place = 0;  // The index of the directory in the plugin path; scan.h.

  std::string dist_info_path() const { return directory + "/" + dist_info; }
};

// Returns whether the text can be the name of a distribution: letters and
// digits, with "-", "_" and "." between them, at most 255 bytes.
bool IsDistributionName(std::string_view text_untrusted);

// The parts of "NAME-VERSION.dist-info". A name that was not normalized may
// contain "-", so the version is the text after the last "-".
struct FolderName {
  std::string name;
  std::string version;
};
// Splits the name of a dist-info folder. Returns nullopt if it is not valid.
std::optional<FolderName> ParseFolderName(std::string_view dist_info);

// Reads the entry_points.txt of the folder `dist_info` in the open directory
// `directory_fd`. The path `directory` is used only for messages and in the
// result. `plain` says that the folder is known to be no symbolic link, so that
// reading is quicker. Name and version come from the folder's name. If `group`
// is given, a file that does not mention the group is not parsed, and only
// entry points of the group are returned. Problems of the file become
// diagnostics; the call fails only if there is no such folder or its name is
// not valid.
Result<Distribution> ReadDistribution(int directory_fd,
                                      const std::string& directory,
                                      const std::string& dist_info, bool plain,
                                      Diagnostics& diagnostics,
                                      std::string_view group = {});

// Replaces name and version by the ones in METADATA. If those cannot be used,
// keeps the folder's and adds a diagnostic. A step of its own, since not every
// caller needs METADATA.
void ReadMetadata(int directory_fd, bool plain, Distribution& distribution,
                  Diagnostics& diagnostics);

// A row of RECORD, which names a file of the distribution.
struct RecordedFile {
  std::string path;  // Relative to the directory; cleaned, no "..".
  std::string hash;  // "sha256=...", or empty.

  bool operator==(const RecordedFile&) const = default;
};

// The most bytes of a RECORD. It has a row of about 100 bytes for each file,
// and some distributions have tens of thousands of files.
inline constexpr size_t kMaxRecordBytes = size_t{16} << 20;
// The stricter bounds for a distribution that has a backend, since bulkheadd
// reads its RECORD while sessions run.
inline constexpr size_t kMaxBackendsRecordBytes = size_t{4} << 20;
inline constexpr size_t kMaxBackendsRecordRows = size_t{1} << 16;

// Return messages about a RECORD that makes a backend unusable: RECORD does not
// list the shared object `plugin_path`, or has too many rows.
std::string RecordLacks(const std::string& plugin_path);
std::string RecordTooLong(size_t rows);

// Reads RECORD, which lists every installed file. Returns nullopt if there is
// no RECORD; fails if it cannot be read or has more than `max_bytes`. Leaves
// out malformed lines and paths that lead out of the directory (scripts have
// those: ../../bin/tool), with a diagnostic.
Result<std::optional<std::vector<RecordedFile>>> ReadRecord(
    int directory_fd, const Distribution& distribution,
    Diagnostics& diagnostics, size_t max_bytes = kMaxRecordBytes);

// Returns the relative path without "." parts and doubled slashes, or nullopt
// if it is absolute or empty or contains ".." or NUL.
std::optional<std::string> CleanedRelativePath(std::string_view path_untrusted);

}  // namespace bulkhead::discovery
