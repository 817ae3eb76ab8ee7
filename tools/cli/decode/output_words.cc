// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/output_words.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "core/crashes/option_names.h"

namespace bulkhead::cli::decode {
namespace {

// The denominator of the ratio for a rate with a decimal point: 29.97 is
// 29970/1000.
constexpr int32_t kThousandths = 1000;

template <typename Number>
std::optional<Number> Parse(std::string_view text) {
  Number number;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// Returns the part of `text` before the separator, and sets `text` to the part
// after the separator. Without a separator, returns the whole text and sets
// `text` to nullopt.
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

struct Size {
  uint32_t width;
  uint32_t height;
};

std::optional<Size> ParseSize(std::string_view text) {
  std::optional<std::string_view> rest = text;
  const auto width = Parse<uint32_t>(TakeUntil('x', rest));
  if (!width || !rest) return std::nullopt;
  const auto height = Parse<uint32_t>(*rest);
  if (!height || *width == 0 || *height == 0) return std::nullopt;
  return Size{*width, *height};
}

Status Bad(std::string_view option, std::string_view text,
           std::string_view advice) {
  return Status(Code::kInvalidArgument,
                fmt::format("{} {}: write {}", option, text, advice));
}

}  // namespace

Result<Resize> ParseResize(std::string_view text) {
  const Status bad = Bad("--resize", text,
                         "WxH in pixels, such as 640x360, or with a filter, "
                         "640x360:lanczos (bilinear, nearest, bicubic, area, "
                         "lanczos)");
  std::optional<std::string_view> filter = text;
  const auto size = ParseSize(TakeUntil(':', filter));
  if (!size) return bad;
  Resize resize{.height = size->height, .width = size->width};
  if (!filter) return resize;
  for (const auto& [value, name] : crashes::kFilterNames) {
    if (*filter != name) continue;
    resize.filter = value;
    return resize;
  }
  return bad;
}

Result<Transform> ParseCrop(std::string_view text) {
  const Status bad = Bad("--crop", text,
                         "WxH for the middle, such as 224x224, or WxH+X+Y, "
                         "such as 224x224+0+16");
  std::optional<std::string_view> place = text;
  const auto size = ParseSize(TakeUntil('+', place));
  if (!size) return bad;
  if (!place) {
    return Transform(CenterCrop{.height = size->height, .width = size->width});
  }
  const auto left = Parse<uint32_t>(TakeUntil('+', place));
  const auto top = place ? Parse<uint32_t>(*place) : std::nullopt;
  if (!left || !top) return bad;
  return Transform(Crop{.top = *top,
                        .left = *left,
                        .height = size->height,
                        .width = size->width});
}

Result<decoding::TimeRange> ParseTimes(std::string_view text) {
  const Status bad =
      Bad("--times", text,
          "T1:T2 in seconds, such as 10:12.5, 10: or :2.5; T1 is before T2");
  std::optional<std::string_view> stop = text;
  const std::string_view start = TakeUntil(':', stop);
  if (!stop) return bad;
  decoding::TimeRange range;
  if (!start.empty() && !(range.start = Parse<double>(start))) return bad;
  if (!stop->empty() && !(range.stop = Parse<double>(*stop))) return bad;
  if (!std::isfinite(range.start.value_or(0)) ||
      !std::isfinite(range.stop.value_or(0)) ||
      (range.start && range.stop && *range.start > *range.stop)) {
    return bad;
  }
  return range;
}

Result<Ratio> ParseRate(std::string_view text) {
  const Status bad =
      Bad("--fps", text, "frames a second, such as 25, 29.97 or 30000/1001");
  std::optional<std::string_view> denominator = text;
  const std::string_view numerator = TakeUntil('/', denominator);
  if (denominator) {
    const auto n = Parse<int32_t>(numerator);
    const auto d = Parse<int32_t>(*denominator);
    if (!n || !d || *n <= 0 || *d <= 0) return bad;
    return Ratio{*n, *d};
  }
  if (const auto whole = Parse<int32_t>(text); whole && *whole > 0) {
    return Ratio{*whole, 1};
  }
  const auto rate = Parse<double>(text);
  if (!rate || !(*rate * kThousandths >= 1) || !(*rate < 1e6)) return bad;
  return Ratio{static_cast<int32_t>(std::lround(*rate * kThousandths)),
               kThousandths};
}

}  // namespace bulkhead::cli::decode
