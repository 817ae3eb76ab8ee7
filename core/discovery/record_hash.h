// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// Checks a file against what RECORD says of it: "sha256=" and the digest in
// URL-safe base64 without padding; sha384 and sha512 are accepted too, anything
// weaker is not, as the specification has it.
//
//   ASSIGN_OR_RETURN(RecordHash hash, RecordHash::Parse(recorded));
//   while (...) hash.Add(bytes);
//   if (!hash.Matches()) ...
//
// Movable. For one thread at a time.
class RecordHash {
 public:
  // kInvalidArgument for what is not such a text, kUnsupported for an
  // algorithm that is not accepted.
  static Result<RecordHash> Parse(std::string_view recorded_untrusted);

  RecordHash(RecordHash&&) noexcept;
  RecordHash& operator=(RecordHash&&) noexcept;
  ~RecordHash();

  void Add(std::span<const std::byte> bytes);
  // Whether what was added is what was recorded. Call it once, at the end.
  bool Matches();

 private:
  struct State;
  explicit RecordHash(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bulkhead::discovery
