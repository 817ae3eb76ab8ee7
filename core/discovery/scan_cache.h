// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/discovery/place_reading.h"
#include "core/discovery/scan.h"

namespace bulkhead::discovery {

// Scans the plugin path repeatedly, and reads only files that have changed
// since the last scan.
//
// A scan costs some system calls for each distribution; one or two stat calls
// for each are enough to see that nothing was installed. Rescan() returns what
// ScanPluginPath() would return at that moment:
//
//   ScanCache cache({.group = "bulkhead.backends"});
//   std::shared_ptr<const Scan> scan = cache.Rescan(path);
//   ...
//   const uint64_t before = cache.generation();
//   scan = cache.Rescan(path);
//   if (cache.generation() != before) ...  // Something was installed.
//
// The cache holds the list of each directory, and METADATA and entry_points.txt
// of each folder, or the fact that the file is missing. A cached item is used
// while device, inode, size, type, and the times of modification and of change
// (in nanoseconds) are the same as just before the item was read. Restoring the
// size and the time of modification does not hide an edit: renaming, linking,
// chmod and writing all advance the time of change, which no tool can set back.
//
// Three kinds of item are not trusted and are read each time:
//
//   * items that changed less than kTrustedAge before they were read, or have a
//     time in the future: a second change within one tick of the clock leaves
//     no trace;
//   * items that are or go through a link, are no regular file, or have any
//     problem;
//   * items on file systems that are not this kernel's own (NFS, SMB, FUSE,
//     anything unknown): their times may be seconds old and by another clock.
//
// Limit: a change that updates no time is not seen. The only such change is a
// write through a mapping whose page was already dirty when the file was read,
// more than kTrustedAge after the time of change was last updated for that
// page. bulkhead.toml, RECORD and the objects are not cached here; Discover()
// reads them for the few distributions that have a backend.
//
// A directory may have any number of folders, and each may have a large file.
// One scan reads at most `max_folders`, and entry_points.txt of at most
// kMaxBytes together; Bulkhead's own directories do not count. It leaves out
// the rest, says so in a diagnostic of the directory, and unread() too. The
// next scan goes on with those.
//
// Keeps no descriptor open and watches nothing between calls. Not thread-safe,
// but the scans that it returns may be used on any thread.
class ScanCache {
 public:
  using Clock = std::function<std::chrono::system_clock::time_point()>;

  // The age from which an item is trusted. It is coarser than the clock of any
  // file system of this kernel: ext3 stores whole seconds, others the tick of
  // the timer or finer.
  static constexpr std::chrono::seconds kTrustedAge{2};
  static constexpr uint64_t kMaxBytes = uint64_t{16} << 20;

  // Tests pass a `clock`; the times of files come from the system's clock.
  explicit ScanCache(ScanOptions options = {},
                     Clock clock = std::chrono::system_clock::now);

  // Scans the path, which may differ from the last one. Never returns null.
  // Returns the same object as last time if nothing changed.
  std::shared_ptr<const Scan> Rescan(
      const std::vector<SearchDirectory>& plugin_path);

  // Returns how many different results there have been.
  uint64_t generation() const { return generation_; }

  // Returns how many folders the last Rescan() had to read.
  size_t folders_read() const { return folders_read_; }
  // Returns how many folders no Rescan() has read yet.
  size_t unread() const { return unread_; }

 private:
  // The state of a file according to lstat; differs if the file has changed.
  struct FileState {
    enum class Kind { kUnknown, kAbsent, kRegular, kDirectory };
    Kind kind = Kind::kUnknown;
    uint64_t device = 0;
    uint64_t inode = 0;
    int64_t bytes = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
    bool operator==(const FileState&) const = default;
  };
  struct Folder {
    FileState entry_points;
    FileState metadata;
    bool trusted = false;
    bool read = false;
  };
  struct Place {
    FileState state;
    bool trusted = false;
    bool own_file_system = false;
    std::vector<Folder> folders;  // One for each of `reading`.
    PlaceReading reading;
  };

  static FileState StateOf(const struct stat& info);
  static FileState StateAt(int directory, const std::string& path);
  bool IsOld(const FileState& state) const;

  // Brings `place` up to date. Returns whether it has changed.
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
  uint64_t generation_ = 0;
  size_t folders_read_ = 0;
  size_t unread_ = 0;
  size_t folders_left_ = 0;  // That this scan may still read.
  uint64_t bytes_left_ = 0;
};

}  // namespace bulkhead::discovery
