// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead::batch {

// The size and time of a file, by which a run sees without reading the file
// whether its contents may be others than before. Both are empty if
// there is no regular file of that name.
struct FileStamp {
  std::optional<uint64_t> bytes;
  std::optional<int64_t> modified_ns;  // Since 1970.
  bool operator==(const FileStamp&) const = default;
};

FileStamp StampOf(const std::string& path);

// Returns the SHA-256 of a text, in hexadecimal.
std::string Sha256Of(std::string_view text);

// Returns the SHA-256 of the contents of a regular file, in hexadecimal.
// kNotFound if it cannot be read; kCancelled as soon as `stopped` returns true.
Result<std::string> Sha256OfFile(const std::string& path,
                                 const std::function<bool()>& stopped);

}  // namespace bulkhead::batch
