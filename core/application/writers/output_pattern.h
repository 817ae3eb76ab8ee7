// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bulkhead::writers {

// A pattern for the names of numbered files, such as "out/%06d.png". It has at
// most one placeholder for a number: `%d`, or `%0Nd` with N from 1 to 9. The
// class formats the number itself, since a user's text must not reach printf.
// A value type.
class OutputPattern {
 public:
  // Returns kInvalidArgument if the text has any other percent sign.
  static Result<OutputPattern> Parse(std::string_view text);

  // Returns true if the pattern has a placeholder. Otherwise it is the name of
  // one file.
  bool numbered() const { return numbered_; }
  // Returns the pattern with `number` in the placeholder.
  std::string NameFor(uint64_t number) const;

  // Calls `rewrite` with the text before the placeholder and then with the text
  // after it, and replaces each by the result. A percent sign in a result has
  // no special meaning.
  void Rewrite(const std::function<std::string(const std::string&)>& rewrite);

 private:
  bool numbered_ = false;
  int width_ = 0;  // N of `%0Nd`; 0 for `%d`.
  std::string before_;
  std::string after_;
};

}  // namespace bulkhead::writers
