// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/digest.h"
#include "core/discovery/file_identity.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {

// Compares the contents of a package's files with the hashes in RECORD, the
// package's list of its files. The files are hostile and may be large. So a
// file is hashed in pieces of some milliseconds each, and only once, however
// many names (hard links) it has. A file that changes while it is hashed is
// refused. Not thread-safe.
//
//   std::optional<Result<FileIdentity>> same = check.Compare(...);
//   if (!same) ...  // The file has to be hashed first.
class ContentCheck {
 public:
  // The most bytes that one ContentCheck hashes, of all files together.
  static constexpr uint64_t kMaxHashedBytes = uint64_t{4} << 30;

  // Compares `file`, which was opened with O_PATH, with `recorded`, the hash
  // that RECORD has for it. Returns the file's identity if its content has that
  // hash, and an error if the file is refused. Returns nullopt if the file has
  // to be hashed first: call HashPiece() while hashing(), then compare again.
  // `path` and `doubt`, the reason for the comparison, are for messages.
  std::optional<Result<FileIdentity>> Compare(const ipc::UniqueFd& file,
                                              const std::string& recorded,
                                              const std::string& path,
                                              const std::string& doubt);
  // Returns whether a file is being hashed.
  bool hashing() const { return hashing_.has_value(); }
  // Hashes the next piece of the file; call it only while hashing(). Blocks as
  // long as the file system does.
  void HashPiece();

 private:
  // A file that is being hashed.
  struct Hashing {
    ipc::UniqueFd file;
    FileIdentity identity;
    HashAlgorithm algorithm;
    Digest digest;
  };
  // The result of hashing a file.
  struct Hashed {
    FileIdentity identity;
    std::string digest;  // Empty if the file changed meanwhile.
  };
  struct Key {
    uint64_t device;
    uint64_t inode;
    HashAlgorithm algorithm;

    auto operator<=>(const Key&) const = default;
  };

  std::optional<Hashing> hashing_;
  std::map<Key, Hashed> digests_;
  uint64_t hashed_bytes_ = 0;
};

}  // namespace bulkhead::discovery
