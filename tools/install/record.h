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

// As much as discovery reads of an installed one.
inline constexpr size_t kMaxRecordBytes = size_t{16} << 20;

// A line of RECORD: a file, and by what it is known.
struct RecordLine {
  std::string path;  // Not validated.
  // Both or none; RECORD itself has none.
  std::optional<discovery::HashAlgorithm> algorithm;
  std::string digest;
  std::optional<uint64_t> size;
  int line = 0;
};

// Reads a RECORD that is about to be installed: stricter than discovery, which
// makes the best of what is there already. One malformed line, a hash weaker
// than SHA-256, a size that is no number or a path given twice fails all,
// with kBadInput, the line and the reason.
Result<std::vector<RecordLine>> ParseRecord(std::string_view text_untrusted);

// The inverse, in the order given, with fields quoted where they need it.
std::string FormatRecord(const std::vector<RecordLine>& lines);

// A path that may be installed: relative, cleaned, UTF-8 without control
// characters, no part of it "..", nothing that begins as our own files do.
Status ValidatePath(std::string_view path_untrusted);

// Files and folders in a plugin directory that are the installer's own.
inline constexpr std::string_view kOwnPrefix = ".bulkhead-";

}  // namespace bulkhead::install
