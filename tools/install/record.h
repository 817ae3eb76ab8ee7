// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::install {

// The largest RECORD accepted, which is also the most that discovery reads.
inline constexpr size_t kMaxRecordBytes = size_t{16} << 20;

// A line of RECORD: a file with its hash and size.
struct RecordLine {
  std::string path;  // The path as written, not validated.
  // A hash has both an algorithm and a digest. RECORD itself has no hash.
  std::optional<HashAlgorithm> algorithm;
  std::string digest;
  std::optional<uint64_t> size;
  int line = 0;
};

// Parses a RECORD that is to be installed. Stricter than discovery, which makes
// the best of files that are installed already: one malformed line, a hash
// weaker than SHA-256, a size that is not a number or a repeated path fails the
// whole RECORD with kBadInput, which names the line and the reason.
Result<std::vector<RecordLine>> ParseRecord(std::string_view text_untrusted);

// Returns the text of a RECORD with these lines in this order. Quotes fields
// where the format requires quotes.
std::string FormatRecord(const std::vector<RecordLine>& lines);

// Checks that a path may be installed: relative, in normal form, UTF-8 without
// control characters, without a ".." part, and without a part that begins with
// kOwnPrefix.
Status ValidatePath(std::string_view path_untrusted);

// The prefix of the installer's own files and folders in a plugin directory.
inline constexpr std::string_view kOwnPrefix = ".bulkhead-";

}  // namespace bulkhead::install
