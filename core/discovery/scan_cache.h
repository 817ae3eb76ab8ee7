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

// Scans the plugin path again and again, and reads again only what changed.
//
// A scan costs some system calls for each distribution; that nothing was
// installed since can be seen with one or two stat calls each. Rescan() returns
// what ScanPluginPath() would return at that moment:
//
//   ScanCache cache({.group = "bulkhead.backends"});
//   std::shared_ptr<const Scan> scan = cache.Rescan(path);
//   ...
//   const uint64_t before = cache.generation();
//   scan = cache.Rescan(path);
//   if (cache.generation() != before) ...  // Something was installed.
//
// A directory's list, and a folder's METADATA and entry_points.txt (or that
// there is none), are taken from memory while device, inode, size, type and the
// nanoseconds of the times of modification and of change are what they were
// just before they were read. The time of change cannot be set back with tools,
// and renaming, linking, chmod and writing all move it on, so restoring a
// file's size and time of modification does not hide an edit. Not trusted, and
// read each time:
//
//   * what changed less than kTrustedAge before it was read: clocks tick, and
//     a second change within a tick leaves no trace. So are times in the
//     future;
//   * whatever is or goes through a link, is no regular file, or has anything
//     wrong with it;
//   * file systems that are not this kernel's own (NFS, SMB, FUSE, anything
//     unknown): what they say of a file may be seconds old and by another
//     clock.
//
// What no time tells is not seen: a write through a mapping whose page was
// already dirty when the file was read, more than kTrustedAge after its last
// trace. bulkhead.toml, RECORD and the objects are not cached here; they are
// read of the few distributions that have a backend, by Discover().
//
// Keeps no descriptor open and watches nothing between calls. One thread at a
// time; the scans that it returned may be used anywhere.
class ScanCache {
 public:
  using Clock = std::function<std::chrono::system_clock::time_point()>;

  // Coarser than the clock of any file system of this kernel's: ext3 has whole
  // seconds, the others the timer's tick or better.
  static constexpr std::chrono::seconds kTrustedAge{2};

  // `clock` is for tests; the files' own is the system's.
  explicit ScanCache(ScanOptions options = {},
                     Clock clock = std::chrono::system_clock::now);

  // The path may be another one than last time. Never null. The same object as
  // last time if nothing changed.
  std::shared_ptr<const Scan> Rescan(
      const std::vector<SearchDirectory>& plugin_path);

  // How many results there have been, each unlike the one before.
  uint64_t generation() const { return generation_; }

  // How many folders the last Rescan() had to read.
  size_t folders_read() const { return folders_read_; }

 private:
  // What lstat says of a file that changes when the file does.
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

  // Brings `place` up to date; whether it is unlike what it was.
  bool Refresh(const SearchDirectory& directory, SeenDirectories& seen,
               Place& place);
  bool RefreshListing(int fd, const SearchDirectory& directory, Place& place);
  bool RefreshFolder(int fd, const SearchDirectory& directory, size_t index,
                     Place& place);

  ScanOptions options_;
  Clock clock_;
  int64_t trusted_before_ns_ = 0;
  std::string path_buffer_;
  std::vector<Place> places_;  // As last asked for.
  std::shared_ptr<const Scan> scan_;
  uint64_t generation_ = 0;
  size_t folders_read_ = 0;
};

}  // namespace bulkhead::discovery
