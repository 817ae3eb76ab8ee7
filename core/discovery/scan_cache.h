// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/discovery/file_identity.h"
#include "core/discovery/place_reading.h"
#include "core/discovery/scan.h"

namespace bulkhead::discovery {

// Scans the plugin path repeatedly, and reads only the files that have changed
// since the last scan.
//
// A full scan costs some system calls for each distribution. If nothing was
// installed, the cache notices that with one or two stat calls for each.
// Rescan() returns what ScanPluginPath() would return at that moment:
//
//   ScanCache cache({.group = "bulkhead.backends"});
//   std::shared_ptr<const Scan> scan = cache.Rescan(path);
//   ...
//   if (cache.Rescan(path) != scan) ...  // Something was installed.
//
// The cache holds the list of folders in each directory, and METADATA and
// entry_points.txt of each .dist-info folder, or the fact that the file is
// missing. A cached item is used while device, inode, size, type, and the times
// of modification and of change (in nanoseconds) are the same as just before
// the item was read. Restoring the size and the time of modification does not
// hide an edit: renaming, linking, chmod and writing all advance the time of
// change, which no tool can set back.
//
// Three kinds of item are not trusted and are read each time:
//
//   * items that changed less than kTrustedAge before they were read, or have a
//     time in the future: a second change within one tick of the file system's
//     clock would not be noticed;
//   * symbolic links, items reached through one, special files, and items with
//     any problem;
//   * items on file systems that are not this kernel's own (NFS, SMB, FUSE,
//     anything unknown): their times may be seconds old and come from another
//     clock.
//
// Limit: a change that updates no time is not noticed. Only a write through a
// memory mapping can be such a change: the kernel updates the time when a page
// becomes dirty, but not at later writes to the dirty page. A later write is
// missed if the file was read at least kTrustedAge after the page became dirty.
//
// bulkhead.toml, RECORD and the shared objects are not cached here; Discover()
// reads them for the few distributions that have a backend.
//
// A directory may have any number of folders, and each may have a large file.
// One scan reads at most `max_folders` folders, and at most kMaxBytes of
// entry_points.txt in total; Bulkhead's own directories do not count. The scan
// leaves out the rest: a diagnostic of the directory says so, and unread()
// counts the folders. The next scan continues with them.
//
// Keeps no descriptor open and watches nothing between calls. Not thread-safe,
// but the scans that it returns may be used on any thread.
class ScanCache {
 public:
  using Clock = std::function<std::chrono::system_clock::time_point()>;

  // The age from which an item is trusted. It exceeds the resolution of every
  // file system of this kernel: ext3 stores whole seconds, others the tick of
  // the timer or finer.
  static constexpr std::chrono::seconds kTrustedAge{2};
  static constexpr uint64_t kMaxBytes = uint64_t{16} << 20;

  // `clock` is compared with the times of files, which come from the system's
  // clock. Tests pass another one.
  explicit ScanCache(ScanOptions options = {},
                     Clock clock = std::chrono::system_clock::now);

  // Scans the path, which may differ from the path of the last call. Never
  // returns null. Returns the Scan of the last call again if nothing changed.
  std::shared_ptr<const Scan> Rescan(
      const std::vector<SearchDirectory>& plugin_path);

  // Returns the number of folders that the last Rescan() had to read.
  size_t folders_read() const { return folders_read_; }
  // Returns the number of folders that no Rescan() has read yet.
  size_t unread() const { return unread_; }

 private:
  // The state of a file according to lstat; differs if the file has changed.
  struct FileState {
    enum class Kind { kUnknown, kAbsent, kRegular, kDirectory };
    Kind kind = Kind::kUnknown;
    FileIdentity identity;
    bool operator==(const FileState&) const = default;
  };
  // The state of a .dist-info folder's files just before they were read.
  struct Folder {
    FileState entry_points;
    FileState metadata;
    bool trusted = false;
    bool read = false;
  };
  // A directory of the plugin path, and its last reading.
  struct Place {
    FileState state;
    bool trusted = false;
    bool own_file_system = false;
    std::vector<Folder> folders;  // One for each in `reading`.
    PlaceReading reading;
  };

  static FileState StateOf(const struct stat& info);
  static FileState StateAt(int directory, const std::string& path);
  // Returns whether the last change is at least kTrustedAge old.
  bool IsOld(const FileState& state) const;

  // These three bring a directory, its listing, or the folder `index` up to
  // date. They return whether the reading has changed.
  bool Refresh(const SearchDirectory& directory, SeenDirectories& seen,
               Place& place);
  bool RefreshListing(int fd, const SearchDirectory& directory, Place& place);
  bool RefreshFolder(int fd, const SearchDirectory& directory, size_t index,
                     Place& place);

  ScanOptions options_;
  Clock clock_;
  int64_t trusted_before_ns_ = 0;
  std::string path_buffer_;
  std::vector<Place> places_;  // In the order of the last Rescan().
  std::shared_ptr<const Scan> scan_;
  size_t folders_read_ = 0;
  size_t unread_ = 0;
  size_t folders_left_ = 0;  // Folders that this scan may still read.
  uint64_t bytes_left_ = 0;
};

}  // namespace bulkhead::discovery
