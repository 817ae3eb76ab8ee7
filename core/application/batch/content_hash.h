// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead::batch {

// The size and modification time of a file. A run compares them with those in
// the record of an earlier run, to find changed files without reading them.
// Both are nullopt if there is no regular file at the path.
struct FileStamp {
  std::optional<uint64_t> bytes;
  std::optional<int64_t> modified_ns;  // Since 1970.
  bool operator==(const FileStamp&) const = default;
};

// Returns the stamp of the file at `path`, following symbolic links.
FileStamp StampOf(const std::string& path);

// Returns the SHA-256 of a text, in hexadecimal.
std::string Sha256Of(std::string_view text);

// Returns the SHA-256 of the contents of a regular file, in hexadecimal.
// Returns kNotFound if the file cannot be read, and kCancelled as soon as
// `stopped` returns true.
Result<std::string> Sha256OfFile(const std::string& path,
                                 const std::function<bool()>& stopped);

}  // namespace bulkhead::batch
