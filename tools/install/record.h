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

// The size of the largest RECORD that the installer accepts and discovery
// reads.
inline constexpr size_t kMaxRecordBytes = size_t{16} << 20;

// A line of RECORD: a file with its hash and size.
struct RecordLine {
  std::string path;  // The path as written, not validated.
  // The hash. Both are empty if there is none: RECORD's own line has none.
  std::optional<HashAlgorithm> algorithm;
  std::string digest;
  std::optional<uint64_t> size;
  int line = 0;
};

// Parses a RECORD that is to be installed. A malformed line, a hash weaker than
// SHA-256, a size that is not a number or a repeated path fails the whole
// RECORD with kBadInput, which names the line and the reason. (Discovery is
// more tolerant: it ignores bad lines of a distribution that is installed.)
Result<std::vector<RecordLine>> ParseRecord(std::string_view text_untrusted);

// Returns the text of a RECORD with these lines in this order. Quotes fields
// where the format requires quotes.
std::string FormatRecord(const std::vector<RecordLine>& lines);

// Checks that a path may be installed: it is relative, in normal form (without
// "..", "." and empty parts) and not too long, is valid UTF-8 without control
// characters, and does not begin with kOwnPrefix.
Status ValidatePath(std::string_view path_untrusted);

// The prefix of the installer's own files and folders in a plugin directory.
inline constexpr std::string_view kOwnPrefix = ".bulkhead-";

}  // namespace bulkhead::install
