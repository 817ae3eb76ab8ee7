// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/output_pattern.h"

#include <fmt/format.h>

namespace bulkhead::writers {

Result<OutputPattern> OutputPattern::Parse(std::string_view text) {
  const auto refuse = [&](std::string_view reason) {
    return Status(Code::kInvalidArgument,
                  fmt::format("output '{}': {}; write one number such as %06d, "
                              "as in out/%06d.png",
                              text, reason));
  };
  OutputPattern pattern;
  const size_t percent = text.find('%');
  pattern.before_ = text.substr(0, percent);
  if (percent == std::string_view::npos) return pattern;

  pattern.numbered_ = true;
  std::string_view rest = text.substr(percent + 1);
  if (rest.size() >= 2 && rest[0] == '0' && rest[1] >= '1' && rest[1] <= '9') {
    pattern.width_ = rest[1] - '0';
    rest.remove_prefix(2);
  }
  if (!rest.starts_with('d')) {
    return refuse("only %d and %0Nd (N from 1 to 9) are known");
  }
  rest.remove_prefix(1);
  if (rest.find('%') != std::string_view::npos) {
    return refuse("more than one percent sign");
  }
  pattern.after_ = rest;
  return pattern;
}

std::string OutputPattern::NameFor(uint64_t number) const {
  if (!numbered_) return before_;
  return fmt::format("{}{:0{}}{}", before_, number, width_, after_);
}

void OutputPattern::Rewrite(
    const std::function<std::string(const std::string&)>& rewrite) {
  before_ = rewrite(before_);
  after_ = rewrite(after_);
}

}  // namespace bulkhead::writers
