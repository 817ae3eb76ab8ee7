// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/discovery/distribution.h"
#include "core/discovery/file_identity.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// Opens an accepted file of the distribution whose shared object has the
// attributes `object`, with O_PATH. Does not look at other distributions. Fails
// with kNotFound if there is no such file, and with kInvalidArgument if the
// file is refused; the message begins with the path in quotes.
Result<ipc::UniqueFd> OpenPackageFile(int directory_fd, const std::string& path,
                                      const struct stat& object);

// Returns why an opened file beside an object with the attributes `object`
// might be no part of the package, whatever RECORD says: then RECORD has to
// know its content. Empty if there is no doubt.
std::string DoubtOf(const ipc::UniqueFd& file, const struct stat& object);

// A file that the sandbox of a backend shows.
struct PackageFile {
  std::string path;  // Relative to the directory that holds the dist-info.
  // Set if the content was compared with RECORD: what is shown is this file.
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
//   - has the hash that RECORD has, if the object is not for everybody, if
//     the file lies outside of the folder of the object and of the dist-info,
//     if it has further names (hard links), or if another distribution without
//     a RECORD may have it. So a package names no file whose content it does
//     not know;
//   - is named by the RECORD of no other distribution of the directory. The
//     object itself may be: only its own code runs in its sandbox.
//
// Without a RECORD, these are the files below the first component of
// `plugin_path` that pass the same rules; but the object alone if it lies in
// the directory itself, or if another distribution of the directory has no
// RECORD either and shares that folder: nothing says then whose a file is.
//
// Each refused file is a diagnostic. bulkheadd checks a file again before each
// launch, and the sandbox shows exactly the inode that was checked.
//
// Everything here is hostile and may be large, so the work is done when a
// backend is started, in steps of some milliseconds, and within these bounds.
// Blocks in each step as long as the file system does. Not thread-safe.
//
//   PackageFiles files(directory, distribution, plugin_path, object);
//   while (!files.Step()) ...  // Let others run.
//   ASSIGN_OR_RETURN(const std::vector<PackageFile> shown, files.Take());
class PackageFiles {
 public:
  // The files without a RECORD, with their folders.
  static constexpr size_t kMaxUnrecorded = 4096;
  // The most bytes that are hashed in all. A file is hashed once, however many
  // names it has.
  static constexpr uint64_t kMaxHashedBytes = uint64_t{4} << 30;
  // The most distributions beside this one that are read. Any file may belong
  // to one beyond them.
  static constexpr size_t kMaxNeighbours = 4096;
  static constexpr size_t kMaxNeighbourBytes = size_t{64} << 20;

  // Counts the work so far. Tests compare counts, since times are noisy.
  struct Work {
    uint64_t rows = 0;
    uint64_t hashed_bytes = 0;
    size_t neighbours = 0;
    size_t steps = 0;
  };

  // `directory_fd` is borrowed until the last step.
  PackageFiles(int directory_fd, Distribution distribution,
               std::string plugin_path, const struct stat& object);

  // Does the next part of the work. Returns whether it was the last one.
  bool Step();
  // Returns the accepted files, sorted; call it after the last step. Files that
  // RECORD names and that do not exist are included, so that the start of the
  // backend says what is missing. Fails with kNotFound if there is a RECORD
  // that does not list the object, with kInvalidArgument if the object itself
  // is refused, and with kResourceExhausted beyond a bound.
  Result<std::vector<PackageFile>> Take();
  // Says what was refused, at most the first few files one by one.
  const Diagnostics& diagnostics() const { return diagnostics_; }
  const Work& work() const { return work_; }

 private:
  struct Hashing {
    ipc::UniqueFd file;
    FileIdentity identity;
    HashAlgorithm algorithm;
    Digest digest;
  };
  using HashKey = std::pair<std::pair<uint64_t, uint64_t>, HashAlgorithm>;

  Status ReadClaims();
  void ListNeighbours();
  void ReadNeighbour(const std::string& dist_info);
  bool SharesFolder(const Distribution& neighbour) const;
  // Judges the next row. Returns false if a file has to be hashed first.
  bool JudgeRow();
  std::string DoubtAbout(const std::string& path,
                         const ipc::UniqueFd& file) const;
  // Compares a file with RECORD and sets `file.hashed`. Returns nullopt if the
  // file has to be hashed first.
  std::optional<Status> CheckKnown(const ipc::UniqueFd& opened,
                                   const std::string& doubt, PackageFile& file);
  void HashPiece();
  void Refuse(const Status& status);

  const int directory_fd_;
  const Distribution distribution_;
  const std::string plugin_path_;
  const struct stat object_;
  Work work_;
  bool has_record_ = false;
  std::map<std::string, std::string> claims_;  // Path to RECORD's hash.
  std::map<std::string, std::string>::const_iterator row_;
  std::vector<std::string> neighbours_;  // dist-info folders still to be read.
  size_t neighbour_bytes_ = 0;
  std::map<std::string, std::string> owners_;  // Path to another's dist-info.
  // Says, as a predicate, which other distribution may have files in the folder
  // of the object.
  std::string sharer_;
  std::optional<Hashing> hashing_;
  struct Hashed {
    FileIdentity identity;
    std::string digest;  // Empty if the file changed meanwhile.
  };
  std::map<HashKey, Hashed> digests_;
  std::vector<PackageFile> accepted_;
  size_t refused_ = 0;
  Status failure_;
  Diagnostics diagnostics_;
};

}  // namespace bulkhead::discovery
