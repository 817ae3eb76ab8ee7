// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/discovery/distribution.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

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
//   - has the hash that RECORD tells, if the object is not for everybody, if
//   the
//     file lies outside of the folder of the object and of the dist-info, or if
//     it has further names (hard links). So a package names no file whose
//     content it does not know;
//   - is named by the RECORD of no other distribution of the directory. The
//     object itself may be: only its own code runs in its sandbox.
//
// Each refused row is a diagnostic. bulkheadd checks a file again before each
// launch, and the sandbox shows exactly the inode that was checked.

// The RECORD files of all distributions of one directory. Names each file's
// distributions. Reads them once, when the first file is asked for: within the
// bounds of ReadRecord for each distribution.
class RecordIndex {
 public:
  // `directory` is the path of the directory, for messages. `directory_fd` is
  // borrowed for each call.
  explicit RecordIndex(std::string directory)
      : directory_(std::move(directory)) {}

  // Returns the dist-info folder of a distribution other than `distribution`
  // that names `path`, or an empty string. Several versions of one distribution
  // are the same distribution.
  std::string OtherOwner(int directory_fd, const Distribution& distribution,
                         const std::string& path);

 private:
  struct Owner {
    std::string name;       // normalized
    std::string dist_info;  // the folder
  };

  void Read(int directory_fd);

  std::string directory_;
  bool read_ = false;
  // At most two owners of different names for each path: two are enough to
  // find one that is another.
  std::unordered_map<std::string, std::vector<Owner>> owners_;
};

// Opens an accepted file of the distribution whose shared object has the
// attributes `object`, with O_PATH. Does not look at other distributions. Fails
// with kNotFound if there is no such file, and with kInvalidArgument if the
// file is refused; the message begins with the path in quotes.
Result<ipc::UniqueFd> OpenInstalledFile(int directory_fd,
                                        const std::string& path,
                                        const struct stat& object);

// Returns the paths of the accepted files, relative to the directory; sorted.
// Without a RECORD these are the accepted files below the first component of
// `plugin_path`, at most kMaxUnrecorded with their folders, or the object alone
// if it lies in the directory itself. Files that RECORD names and that do not
// exist are included, so that the start of the backend says what is missing.
// Adds a diagnostic for each of the first few refused files. Fails with
// kNotFound if there is a RECORD that does not list the object, with
// kInvalidArgument if the object itself is refused, and with kResourceExhausted
// if there are too many files without a RECORD.
inline constexpr size_t kMaxUnrecorded = 4096;
Result<std::vector<std::string>> VisiblePaths(
    int directory_fd, const Distribution& distribution,
    const std::optional<std::vector<RecordedFile>>& record,
    const std::string& plugin_path, const struct stat& object,
    RecordIndex& index, Diagnostics& diagnostics);

}  // namespace bulkhead::discovery
