// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/digest.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead {

// Compares the content of a file with its hash in RECORD, the list of an
// installed package's files: "sha256=" and the digest in URL-safe base64
// without padding. sha384 and sha512 are accepted too; anything weaker is
// refused, as the packaging specification demands.
//
//   ASSIGN_OR_RETURN(RecordHash hash, RecordHash::Parse(recorded));
//   while (...) hash.Add(bytes);
//   if (!hash.Matches()) ...
//
// Not thread-safe.
class RecordHash {
 public:
  // Parses a hash. kInvalidArgument if the text has another form, kUnsupported
  // for an algorithm that is not accepted.
  static Result<RecordHash> Parse(std::string_view recorded_untrusted);

  void Add(std::span<const char> bytes) { digest_.Append(bytes); }
  // Returns whether the bytes that were added have the recorded hash. Call it
  // once, at the end.
  bool Matches() { return digest_.Finish() == expected_; }

 private:
  RecordHash(HashAlgorithm algorithm, std::string expected)
      : digest_(algorithm), expected_(std::move(expected)) {}

  Digest digest_;
  std::string expected_;
};

}  // namespace bulkhead
