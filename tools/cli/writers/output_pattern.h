// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bulkhead::cli {

// A pattern for the names of numbered files, such as "out/%06d.png". It has at
// most one place for a number: `%d`, or `%0Nd` with N from 1 to 9. The class
// formats the number itself, since a user's text must not reach printf. A
// value.
class OutputPattern {
 public:
  // Returns kInvalidArgument if the text has a percent sign in any other form.
  static Result<OutputPattern> Parse(std::string_view text);

  // Returns true if the pattern has a place for a number. Otherwise the pattern
  // names one file.
  bool numbered() const { return numbered_; }
  std::string NameFor(uint64_t number) const;

  // Replaces the text before and after the number by the results of `rewrite`.
  // A percent sign in a result has no meaning.
  void Rewrite(const std::function<std::string(const std::string&)>& rewrite);

 private:
  bool numbered_ = false;
  int width_ = 0;
  std::string before_;
  std::string after_;
};

}  // namespace bulkhead::cli
