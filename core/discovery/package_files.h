// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/content_check.h"
#include "core/discovery/distribution.h"
#include "core/discovery/file_identity.h"
#include "core/discovery/neighbours.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// A file that a backend can read in its sandbox (the sandbox "shows" it).
struct PackageFile {
  std::string path;  // Relative to the directory that holds the dist-info.
  // Set if the content was compared with RECORD: the sandbox may then show the
  // file only if it still has this identity.
  std::optional<FileIdentity> hashed;

  bool operator==(const PackageFile&) const = default;
};

// Decides which files a backend's sandbox may show. A package lists its files
// itself, in RECORD, so a row of RECORD is a claim and not a permission. A row
// is accepted if the file
//
//   - is a regular file, reached without following a symbolic link below the
//     directory that holds the dist-info;
//   - belongs to the owner of the backend's shared object, as do the folders
//     above it;
//   - can be read, and its folders entered, by everybody who can read the
//     object;
//   - has the hash that RECORD has, in each of these cases: the object cannot
//     be read by everybody; the file lies outside of the folder of the object
//     and of the dist-info; the file has further names (hard links); another
//     distribution without a RECORD may own it. So a package cannot gain a file
//     whose content it does not know;
//   - is named by the RECORD of no other distribution of the directory. (The
//     shared object may be named there: only its own code runs in its sandbox.)
//
// Without a RECORD, the claims are all files below the first folder of the
// object's path, and the same rules decide. In two cases nothing says to which
// distribution a file belongs, and the sandbox shows the object alone: the
// object lies directly beside the dist-info, or another distribution without a
// RECORD shares that first folder.
//
// Each refused file is a diagnostic. bulkheadd checks a file again before each
// launch, and the sandbox shows exactly the inode that was checked.
//
// Everything here is hostile and may be large. So the work is done when a
// backend is started, in steps of some milliseconds, and within bounds.
// Neighbours finds the files of other distributions; ContentCheck compares
// files with RECORD's hashes. Each step blocks as long as the file system does.
// Not thread-safe.
//
//   PackageFiles files(directory, distribution, plugin_path, object);
//   while (!files.Step()) ...  // Let others run.
//   ASSIGN_OR_RETURN(const std::vector<PackageFile> shown, files.Take());
class PackageFiles {
 public:
  // The most files and folders that are listed without a RECORD.
  static constexpr size_t kMaxUnrecorded = 4096;

  // `directory_fd` is borrowed until the last step. `plugin_path` and `object`
  // are the path and the attributes of the backend's shared object.
  PackageFiles(int directory_fd, Distribution distribution,
               std::string plugin_path, const struct stat& object);

  // Does the next part of the work. Returns true once the work is done.
  bool Step();
  // Returns the accepted files, sorted; call it after the last step. Files that
  // RECORD names and that do not exist are included, so that the start of the
  // backend says what is missing. Fails with kNotFound if there is a RECORD
  // that does not list the object, with kInvalidArgument if the object itself
  // is refused, and with kResourceExhausted if a bound is exceeded.
  Result<std::vector<PackageFile>> Take();
  // Lists the refused files: the first few one by one, then the number of the
  // others.
  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  // Reads RECORD, or lists the folder of the object.
  Status ReadClaims();
  // Judges the next row. Returns false if a file has to be hashed first.
  bool JudgeRow();
  // Returns a reason to doubt that `file` belongs to the package, or an empty
  // string. The content of a doubtful file must have the hash in RECORD.
  std::string DoubtAbout(const std::string& path,
                         const ipc::UniqueFd& file) const;
  // Adds a diagnostic about a file that is not shown.
  void Refuse(const Status& status);

  const int directory_fd_;
  const Distribution distribution_;
  const std::string plugin_path_;
  const struct stat object_;
  bool begun_ = false;  // True once Step() has read the claims.
  bool has_record_ = false;
  std::map<std::string, std::string> claims_;  // Path to RECORD's hash.
  std::map<std::string, std::string>::const_iterator row_;
  Neighbours neighbours_;
  ContentCheck content_;
  std::vector<PackageFile> accepted_;
  size_t refused_ = 0;
  Status failure_;
  Diagnostics diagnostics_;
};

}  // namespace bulkhead::discovery
