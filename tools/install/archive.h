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

// A zip file from a stranger. Opening it validates its table of contents:
// names (ValidatePath), no link, device or other special file, nothing
// encrypted, no compression but deflate, no name twice, at most kMaxFiles
// entries that claim at most kMaxTotalBytes. What an entry holds is only known
// while it is read, and reading stops at the size it claims. Folders are left
// out: those that hold files come to be with them.
//
// libzip turns a NUL in a name into a space; such a name is in no RECORD.
//
// Failures are kBadInput, kNotFound if there is no such file. Not thread-safe.
class Archive {
 public:
  struct Entry {
    std::string path;
    uint64_t size_untrusted = 0;
    bool executable = false;
    uint64_t index = 0;
  };
  using Sink = std::function<Status(std::span<const char> bytes)>;

  static Result<Archive> Open(const std::string& path);

  // Sorted by path.
  const std::vector<Entry>& entries() const { return entries_; }
  // Null: no such entry. Owned by the archive.
  const Entry* Find(const std::string& path) const;

  // Passes on the contents piece by piece, and the sink's first failure.
  Status Read(const Entry& entry, const Sink& sink) const;
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
