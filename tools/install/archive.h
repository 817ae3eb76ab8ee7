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

// A reader for a zip file that nobody has vouched for. Open() validates the
// table of contents: every name (ValidatePath), no links, devices or other
// special files, no encryption, no compression except deflate, no name twice,
// and at most kMaxFiles entries that claim at most kMaxTotalBytes together. The
// real size of an entry is known only after it has been read; Read() stops at
// the size that the entry claims. Entries for folders are left out, since the
// folders of files are created together with the files.
//
// libzip turns a NUL in a name into a space. That is harmless, because no
// RECORD lists such a name.
//
// Failures are kBadInput, or kNotFound if the file does not exist. Not
// thread-safe.
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
  // Returns the entry, which the archive owns, or null if there is none.
  const Entry* Find(const std::string& path) const;

  // Passes the contents to the sink piece by piece. Stops at the first failure
  // of the sink and returns it.
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
