// SPDX-License-Identifier: Apache-2.0
#include "core/base/record_hash.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/base/text.h"

namespace bulkhead {
namespace {

bool IsBase64Url(char c) {
  return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '-' || c == '_';
}

}  // namespace

Result<RecordHash> RecordHash::Parse(std::string_view recorded_untrusted) {
  const size_t equals = recorded_untrusted.find('=');
  if (equals == std::string_view::npos) {
    return Status(Code::kInvalidArgument,
                  Quoted(recorded_untrusted) + " is not ALGORITHM=DIGEST");
  }
  const std::string_view name = recorded_untrusted.substr(0, equals);
  const std::optional<HashAlgorithm> algorithm = HashAlgorithmNamed(name);
  if (!algorithm) {
    return Status(Code::kUnsupported,
                  "the algorithm " + Quoted(name) +
                      " does not count; use sha256, sha384 or sha512");
  }
  std::string_view expected = recorded_untrusted.substr(equals + 1);
  // RECORD is written without padding, but padding is accepted.
  while (expected.ends_with('=')) expected.remove_suffix(1);
  // All digests of an algorithm have the same length.
  if (expected.size() != Digest(*algorithm).Finish().size() ||
      !std::all_of(expected.begin(), expected.end(), IsBase64Url)) {
    return Status(Code::kInvalidArgument, Quoted(recorded_untrusted) +
                                              " has no valid digest of " +
                                              std::string(name));
  }
  return RecordHash(*algorithm, std::string(expected));
}

}  // namespace bulkhead
