// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/discovery/distribution.h"

namespace bulkhead::discovery {

// Finds the files that may belong to neighbours of a backend's distribution,
// when the backend is started. Neighbours are the other distributions in the
// same directory.
//
// A neighbour owns each file that its RECORD (its list of files) names:
// OwnerOf(). A neighbour whose RECORD is missing or cannot be read may own any
// file in the folder that has its name, and in the folders that its entry
// points name. If the backend's shared object lies in such a folder, sharer()
// reports the neighbour.
//
// RECORDs are hostile and may be many, so they are read one at a time and
// within bounds. Not thread-safe.
class Neighbours {
 public:
  // The most neighbours that are read, and the most bytes of their RECORDs'
  // rows. Beyond these bounds, sharer() says that any file may belong to a
  // neighbour that was not read.
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
  // Reads the RECORD of the next neighbour. Remembers its rows that name a file
  // which the backend's distribution claims, too. The paths of these files are
  // the keys of `claims`.
  void ReadNext(const std::map<std::string, std::string>& claims);

  // Returns the dist-info folder of another distribution whose RECORD names
  // `path`, or null.
  const std::string* OwnerOf(const std::string& path) const;
  // Returns which neighbour may own files in the folder of the shared object,
  // as a predicate ("may belong to ..."), or an empty string if none may.
  const std::string& sharer() const { return sharer_; }

 private:
  // Returns whether a neighbour without a readable RECORD may own files in the
  // folder of the shared object.
  bool SharesFolder(const Distribution& neighbour) const;

  const int directory_fd_;
  const std::string directory_;
  const std::string own_name_;       // Normalized.
  const std::string folder_;         // The shared object's, or empty if none.
  std::vector<std::string> unread_;  // Names of dist-info folders.
  size_t row_bytes_ = 0;
  std::map<std::string, std::string> owners_;  // Path to another's dist-info.
  std::string sharer_;
};

}  // namespace bulkhead::discovery
