// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/include/bulkhead/status.h"

struct zip;

namespace bulkhead::install {

// A reader for an untrusted zip file. Open() validates its central directory
// and refuses
//   - a name that ValidatePath refuses, or that occurs twice;
//   - links, devices and other special files;
//   - encryption, and compression other than deflate;
//   - more than kMaxFiles entries, or claimed sizes of more than kMaxTotalBytes
//     in total.
// The real size of an entry is known only after it was read: Read() fails if it
// is not the claimed size. entries() leaves out folders, since the installer
// creates the folders of files with the files.
//
// libzip turns a NUL in a name into a space. That is harmless: such an entry is
// refused unless RECORD lists the name with the space, and its hash.
//
// Failures are kBadInput, or kNotFound if the file does not exist. Not
// thread-safe.
class Archive {
 public:
  struct Entry {
    std::string path;
    uint64_t size_untrusted = 0;  // The claimed size in bytes, unpacked.
    bool executable = false;
    uint64_t index = 0;  // The position in the central directory.
  };
  using Sink = std::function<Status(std::span<const char> bytes)>;

  static Result<Archive> Open(const std::string& path);

  // The entries for files, sorted by path.
  const std::vector<Entry>& entries() const { return entries_; }
  // Returns the entry, which the archive owns, or null if there is none.
  const Entry* Find(const std::string& path) const;

  // Passes the contents of the entry to `sink` piece by piece. If `sink` fails,
  // stops and returns its failure.
  Status Read(const Entry& entry, const Sink& sink) const;
  // Returns the contents of the entry `path`; kBadInput if there is no such
  // entry, or if it has more than `max_bytes`.
  Result<std::string> ReadText(const std::string& path, size_t max_bytes) const;

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };

  explicit Archive(zip* archive) : archive_(archive) {}
  Status ReadContents();

  std::unique_ptr<zip, Discard> archive_;
  std::vector<Entry> entries_;
};

}  // namespace bulkhead::install
