// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bulkhead::cli {

// Names of numbered files, such as "out/%06d.png". Only one place for a number,
// `%d` or `%0Nd` with N from 1 to 9, so no name that a user types ever reaches
// printf. A value.
class OutputPattern {
 public:
  // kInvalidArgument for anything else with a percent sign.
  static Result<OutputPattern> Parse(std::string_view text);

  // False: the text had no percent sign and names one file.
  bool numbered() const { return numbered_; }
  std::string NameFor(uint64_t number) const;

  // Has `rewrite` replace the text on either side of the number. What it
  // returns is taken as it is.
  void Rewrite(const std::function<std::string(const std::string&)>& rewrite);

 private:
  bool numbered_ = false;
  int width_ = 0;
  std::string before_;
  std::string after_;
};

}  // namespace bulkhead::cli
