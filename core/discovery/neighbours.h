// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/discovery/distribution.h"

namespace bulkhead::discovery {

// The neighbours of a distribution: the other distributions in the same
// directory. When a backend is started, this class finds the files that may
// belong to a neighbour of the backend's distribution. A file that a
// neighbour's RECORD (its list of files) names belongs to the neighbour. A
// neighbour whose RECORD is missing or cannot be read may own any file in the
// folders that have its name or that its entry points name. The backend's
// shared object may lie in such a folder. RECORDs are hostile and may be many,
// so they are read one distribution at a time and within bounds. Not
// thread-safe.
class Neighbours {
 public:
  // The most neighbours that are read, and the most bytes of their RECORDs'
  // rows. Beyond these bounds, any file may belong to a neighbour that was not
  // read.
  static constexpr size_t kMaxNeighbours = 4096;
  static constexpr size_t kMaxNeighbourBytes = size_t{64} << 20;

  // `directory_fd` is borrowed until the last neighbour is read. `plugin_path`
  // is the path of the backend's shared object in that directory.
  Neighbours(int directory_fd, const Distribution& distribution,
             const std::string& plugin_path);

  // Lists the directory. Call it once, before ReadNext().
  void List();
  // Returns whether no neighbour is left to be read.
  bool done() const { return unread_.empty(); }
  // Reads the RECORD of the next neighbour. Remembers the rows whose paths are
  // keys of `claims`, the files that the backend's distribution claims.
  void ReadNext(const std::map<std::string, std::string>& claims);

  // Returns the dist-info folder of another distribution whose RECORD names
  // `path`, or null.
  const std::string* OwnerOf(const std::string& path) const;
  // Says, as a predicate ("may belong to ..."), which other distribution may
  // own files in the folder of the shared object. Empty if none may.
  const std::string& sharer() const { return sharer_; }
  // Returns how many neighbours were read.
  size_t read() const { return read_; }

 private:
  // Returns whether a neighbour without a readable RECORD may own files in the
  // folder of the shared object.
  bool SharesFolder(const Distribution& neighbour) const;

  const int directory_fd_;
  const std::string directory_;
  const std::string own_name_;       // Normalized.
  const std::string folder_;         // The shared object's, or empty if none.
  std::vector<std::string> unread_;  // Names of dist-info folders.
  size_t read_ = 0;
  size_t row_bytes_ = 0;
  std::map<std::string, std::string> owners_;  // Path to another's dist-info.
  std::string sharer_;
};

}  // namespace bulkhead::discovery
