// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/neighbours.h"

#include <algorithm>
#include <utility>

#include "core/discovery/place_reading.h"

namespace bulkhead::discovery {
namespace {

// Returns "a" for "a/b/c.so", and "" for "c.so".
std::string FirstFolder(const std::string& path) {
  const size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace

Neighbours::Neighbours(int directory_fd, const Distribution& distribution,
                       const std::string& plugin_path)
    : directory_fd_(directory_fd),
      directory_(distribution.directory),
      own_name_(distribution.normalized_name),
      folder_(FirstFolder(plugin_path)) {}

void Neighbours::List() {
  const Listing listing = ListFolders(directory_fd_, directory_);
  for (const ListedFolder& folder : listing.folders) {
    // Several versions of one distribution are the same distribution.
    if (folder.normalized_name == own_name_) continue;
    if (unread_.size() == kMaxNeighbours) {
      sharer_ = "may belong to another distribution: there are too many";
      break;
    }
    unread_.push_back(folder.name);
  }
}

void Neighbours::ReadNext(const std::map<std::string, std::string>& claims) {
  const std::string dist_info = std::move(unread_.back());
  unread_.pop_back();
  Distribution neighbour;
  neighbour.directory = directory_;
  neighbour.dist_info = dist_info;
  if (const auto name = ParseFolderName(dist_info)) {
    neighbour.normalized_name = NormalizedName(name->name);
  }
  if (row_bytes_ >= kMaxNeighbourBytes) {
    sharer_ =
        "may belong to another distribution: their RECORDs list too many files";
    unread_.clear();
    return;
  }
  Diagnostics ignored;
  const auto record =
      ReadRecord(directory_fd_, neighbour, ignored, kMaxBackendsRecordBytes);
  if (!record) {
    if (SharesFolder(neighbour)) {
      sharer_ = "may belong to " + dist_info +
                ", whose RECORD cannot be read: " + record.error().message();
    }
    return;
  }
  if (!*record) {
    if (SharesFolder(neighbour)) {
      sharer_ = "may belong to " + dist_info + ", which has no RECORD";
    }
    return;
  }
  for (const RecordedFile& row : **record) {
    row_bytes_ += row.path.size() + row.hash.size() + 1;
    if (claims.contains(row.path)) owners_.emplace(row.path, dist_info);
  }
}

const std::string* Neighbours::OwnerOf(const std::string& path) const {
  const auto owner = owners_.find(path);
  return owner == owners_.end() ? nullptr : &owner->second;
}

// A distribution without a RECORD is assumed to own the folder that has its
// name, and the folder of each module that its entry points name.
bool Neighbours::SharesFolder(const Distribution& neighbour) const {
  if (folder_.empty()) return false;
  if (NormalizedName(folder_) == neighbour.normalized_name) return true;
  Diagnostics ignored;
  // Entry points of every group count: a package without a backend has files,
  // too.
  const auto read = ReadDistribution(directory_fd_, neighbour.directory,
                                     neighbour.dist_info, false, ignored);
  return read &&
         std::any_of(read->entry_points.begin(), read->entry_points.end(),
                     [&](const EntryPoint& entry) {
                       return entry.module.substr(0, entry.module.find('.')) ==
                              folder_;
                     });
}

}  // namespace bulkhead::discovery
