// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/output_words.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace bulkhead::cli {
namespace {

template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  Number number;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// What is before the separator; the rest stays in `text`, and is nullopt
// without one.
std::string_view TakeUntil(char separator,
                           std::optional<std::string_view>& text) {
  const std::string_view whole = text.value_or(std::string_view());
  const size_t at = whole.find(separator);
  if (at == std::string_view::npos) {
    text.reset();
    return whole;
  }
  text = whole.substr(at + 1);
  return whole.substr(0, at);
}

Status Bad(std::string_view option, std::string_view text,
           std::string_view advice) {
  return Status(Code::kInvalidArgument,
                fmt::format("{} {}: write {}", option, text, advice));
}

}  // namespace

Result<TimeRange> ParseTimes(std::string_view text) {
  const Status bad =
      Bad("--times", text,
          "T1:T2 in seconds, such as 10:12.5, 10: or :2.5; T1 is before T2");
  std::optional<std::string_view> stop = text;
  const std::string_view start = TakeUntil(':', stop);
  if (!stop) return bad;
  TimeRange range;
  if (!start.empty() && !(range.start = Parse<double>(start))) return bad;
  if (!stop->empty() && !(range.stop = Parse<double>(*stop))) return bad;
  if (!std::isfinite(range.start.value_or(0)) ||
      !std::isfinite(range.stop.value_or(0)) ||
      (range.start && range.stop && *range.start > *range.stop)) {
    return bad;
  }
  return range;
}

}  // namespace bulkhead::cli
