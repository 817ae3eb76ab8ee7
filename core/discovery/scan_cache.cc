// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/scan_cache.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <tuple>
#include <utility>

#include "core/base/bounded_file.h"
#include "ipc/unique_fd.h"

namespace bulkhead::discovery {
namespace {

// <linux/magic.h> does not have these.
constexpr uint32_t kXfsMagic = 0x58465342;
constexpr uint32_t kZfsMagic = 0x2fc12fc1;
constexpr uint32_t kBcachefsMagic = 0xca451a4e;

// Returns whether the kernel itself keeps the times of the file system's files,
// by its own clock.
bool IsOwnFileSystem(int fd) {
  struct statfs info;
  if (fstatfs(fd, &info) != 0) return false;
  static constexpr uint32_t kOwn[] = {
      EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC,    TMPFS_MAGIC,
      RAMFS_MAGIC,      F2FS_SUPER_MAGIC,     OVERLAYFS_SUPER_MAGIC,
      SQUASHFS_MAGIC,   EROFS_SUPER_MAGIC_V1, kXfsMagic,
      kZfsMagic,        kBcachefsMagic};
  return std::find(std::begin(kOwn), std::end(kOwn),
                   static_cast<uint32_t>(info.f_type)) != std::end(kOwn);
}

// All members, since operator== of entry points ignores the place they come
// from.
auto Members(const EntryPoint& entry) {
  return std::tie(entry.name, entry.value, entry.group, entry.module,
                  entry.attr, entry.extras, entry.distribution, entry.version,
                  entry.file, entry.line);
}

bool IsSame(const Distribution& a, const Distribution& b) {
  const auto members = [](const Distribution& d) {
    return std::tie(d.name, d.version, d.normalized_name, d.has_metadata,
                    d.directory, d.dist_info, d.place);
  };
  return members(a) == members(b) &&
         std::equal(a.entry_points.begin(), a.entry_points.end(),
                    b.entry_points.begin(), b.entry_points.end(),
                    [](const EntryPoint& x, const EntryPoint& y) {
                      return Members(x) == Members(y);
                    });
}

bool HasError(const Diagnostics& diagnostics) {
  return std::any_of(
      diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
        return diagnostic.severity == Diagnostic::Severity::kError;
      });
}

bool IsSame(const FolderReading& a, const FolderReading& b) {
  if (a.distribution.has_value() != b.distribution.has_value()) return false;
  return a.metadata_read == b.metadata_read && a.diagnostics == b.diagnostics &&
         (!a.distribution || IsSame(*a.distribution, *b.distribution));
}

bool IsSame(const Scan& a, const Scan& b) {
  return a.places == b.places && a.diagnostics == b.diagnostics &&
         std::equal(a.distributions.begin(), a.distributions.end(),
                    b.distributions.begin(), b.distributions.end(),
                    [](const Distribution& x, const Distribution& y) {
                      return IsSame(x, y);
                    });
}

}  // namespace

ScanCache::ScanCache(ScanOptions options, Clock clock)
    : options_(std::move(options)), clock_(std::move(clock)) {}

std::shared_ptr<const Scan> ScanCache::Rescan(
    const std::vector<SearchDirectory>& plugin_path) {
  // The time is taken before any file is examined: a file that is old enough
  // now is older still when it is read.
  trusted_before_ns_ = std::chrono::duration_cast<std::chrono::nanoseconds>(
                           (clock_() - kTrustedAge).time_since_epoch())
                           .count();
  folders_read_ = 0;
  unread_ = 0;
  folders_left_ = options_.max_folders;
  bytes_left_ = kMaxBytes;
  bool changed = !scan_ || places_.size() != plugin_path.size();
  std::vector<Place> old = std::exchange(places_, {});
  SeenDirectories seen;
  for (size_t i = 0; i < plugin_path.size(); ++i) {
    // The directory may have moved to another position in the path. Its reading
    // is still valid.
    const auto known =
        std::find_if(old.begin(), old.end(), [&](const Place& place) {
          return place.reading.place.directory == plugin_path[i];
        });
    Place& place = places_.emplace_back();
    if (known == old.end()) {
      changed = true;
    } else {
      changed |= known - old.begin() != static_cast<std::ptrdiff_t>(i);
      place = std::exchange(*known, {});
    }
    changed |= Refresh(plugin_path[i], seen, place);
  }
  if (!changed) return scan_;
  std::vector<PlaceReading> readings;
  for (const Place& place : places_) readings.push_back(place.reading);
  Scan scan = AssembleScan(std::move(readings));
  // The change may concern only a distribution that is not used.
  if (scan_ && IsSame(scan, *scan_)) return scan_;
  scan_ = std::make_shared<const Scan>(std::move(scan));
  return scan_;
}

bool ScanCache::Refresh(const SearchDirectory& directory, SeenDirectories& seen,
                        Place& place) {
  struct stat info;
  PlaceReading opened;
  const ipc::UniqueFd fd = OpenPlace(directory, seen, info, opened);
  bool changed = opened.place != place.reading.place ||
                 opened.diagnostics != place.reading.diagnostics;
  if (!fd) {
    place = Place{.reading = std::move(opened)};
    return changed;
  }
  place.reading.place = std::move(opened.place);
  place.reading.diagnostics = std::move(opened.diagnostics);

  const FileState state = StateOf(info);
  if (!place.trusted || state != place.state) {
    place.own_file_system = IsOwnFileSystem(fd.get());
    place.state = state;
    changed |= RefreshListing(fd.get(), directory, place);
    place.trusted = place.own_file_system && IsOld(state) &&
                    !HasError(place.reading.listing.diagnostics);
  }
  // Folders that no scan has read come first, so that each of them has its
  // turn.
  size_t unread = 0;
  std::vector<size_t> known;
  for (size_t i = 0; i < place.folders.size(); ++i) {
    if (place.folders[i].read) {
      known.push_back(i);
      continue;
    }
    changed |= RefreshFolder(fd.get(), directory, i, place);
    unread += !place.folders[i].read;
  }
  for (const size_t i : known) {
    changed |= RefreshFolder(fd.get(), directory, i, place);
  }
  unread_ += unread;
  if (unread == 0) return changed;
  place.reading.diagnostics.push_back(
      {Diagnostic::Severity::kError, directory.path, 0,
       std::to_string(unread) + " of its " +
           std::to_string(place.folders.size()) +
           " .dist-info folders are not read yet, since one search reads " +
           std::to_string(options_.max_folders) + " folders and " +
           std::to_string(kMaxBytes) +
           " bytes: uninstall what fills the directory"});
  return true;
}

bool ScanCache::RefreshListing(int fd, const SearchDirectory& directory,
                               Place& place) {
  Listing listing = ListFolders(fd, directory.path);
  if (listing == place.reading.listing) return false;
  // Both lists are in the order of names, so one pass finds the common ones.
  std::vector<Folder> folders(listing.folders.size());
  std::vector<FolderReading> readings(listing.folders.size());
  const std::vector<ListedFolder>& old = place.reading.listing.folders;
  size_t from = 0;
  for (size_t to = 0; to < listing.folders.size(); ++to) {
    while (from < old.size() && old[from].name < listing.folders[to].name) {
      ++from;
    }
    if (from < old.size() && old[from] == listing.folders[to]) {
      folders[to] = place.folders[from];
      readings[to] = std::move(place.reading.folders[from]);
    }
  }
  place.reading.listing = std::move(listing);
  place.reading.folders = std::move(readings);
  place.folders = std::move(folders);
  return true;
}

bool ScanCache::RefreshFolder(int fd, const SearchDirectory& directory,
                              size_t index, Place& place) {
  const ListedFolder& listed = place.reading.listing.folders[index];
  Folder& folder = place.folders[index];
  FolderReading& reading = place.reading.folders[index];

  const bool may_trust = place.own_file_system && listed.plain;
  const auto state_of = [&](const char* name) {
    path_buffer_.assign(listed.name).append(name);
    return StateAt(fd, path_buffer_);
  };
  if (may_trust && folder.trusted &&
      state_of("/entry_points.txt") == folder.entry_points &&
      (!reading.metadata_read || state_of("/METADATA") == folder.metadata)) {
    return false;
  }
  const FileState entry_points = state_of("/entry_points.txt");
  // The most bytes that reading may take. The target of a link may be of any
  // size up to the bound.
  const uint64_t bytes =
      entry_points.kind == FileState::Kind::kAbsent ? 0
      : entry_points.kind == FileState::Kind::kRegular
          ? std::min(static_cast<uint64_t>(entry_points.identity.bytes),
                     uint64_t{kMaxMetadataBytes})
          : kMaxMetadataBytes;
  if (!directory.built_in) {
    if (folders_left_ == 0 || bytes_left_ < bytes) return false;
    --folders_left_;
    bytes_left_ -= bytes;
  }
  folder.read = true;
  // The states are taken before reading, so that the next scan notices a change
  // during the reading.
  if (may_trust) {
    folder.entry_points = entry_points;
    folder.metadata = state_of("/METADATA");
  }
  FolderReading read = ReadFolder(fd, directory.path, listed, options_.group);
  ++folders_read_;
  // A missing file is settled, and so is an old regular file on the file system
  // of the directory.
  const auto is_settled = [&](const FileState& state) {
    return state.kind == FileState::Kind::kAbsent ||
           (state.kind == FileState::Kind::kRegular &&
            state.identity.device == place.state.identity.device &&
            IsOld(state));
  };
  // A folder with a problem is not trusted and is read again, since the problem
  // may be temporary, such as too many open files.
  folder.trusted = may_trust && read.distribution && read.diagnostics.empty() &&
                   is_settled(folder.entry_points) &&
                   (!read.metadata_read || is_settled(folder.metadata));
  if (IsSame(read, reading)) return false;
  reading = std::move(read);
  return true;
}

ScanCache::FileState ScanCache::StateOf(const struct stat& info) {
  const auto kind = S_ISREG(info.st_mode)   ? FileState::Kind::kRegular
                    : S_ISDIR(info.st_mode) ? FileState::Kind::kDirectory
                                            : FileState::Kind::kUnknown;
  return {.kind = kind, .identity = IdentityOf(info)};
}

ScanCache::FileState ScanCache::StateAt(int directory,
                                        const std::string& path) {
  struct stat info;
  if (fstatat(directory, path.c_str(), &info,
              AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0) {
    return StateOf(info);
  }
  FileState state;
  if (errno == ENOENT) state.kind = FileState::Kind::kAbsent;
  return state;
}

bool ScanCache::IsOld(const FileState& state) const {
  return state.identity.changed_ns < trusted_before_ns_;
}

}  // namespace bulkhead::discovery
