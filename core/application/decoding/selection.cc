// SPDX-License-Identifier: Apache-2.0
#include "core/application/decoding/selection.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <utility>

namespace bulkhead::decoding {
namespace {

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

Status BadSlice(std::string_view text, std::string_view reason) {
  return Status(
      Code::kInvalidArgument,
      fmt::format("--frames {}: {}; write A:B or A:B:S, such as 10:20, "
                  "-5: or ::10",
                  text, reason));
}

// Returns a bound of a slice counted from the beginning, at most `frame_count`.
uint64_t Clip(int64_t bound, uint64_t frame_count) {
  if (bound >= 0) {
    return std::min(static_cast<uint64_t>(bound), frame_count);
  }
  const uint64_t from_end = -static_cast<uint64_t>(bound);
  return from_end > frame_count ? 0 : frame_count - from_end;
}

}  // namespace

FrameRange Slice::Resolve(uint64_t frame_count) const {
  const uint64_t first = start ? Clip(*start, frame_count) : 0;
  const uint64_t last = stop ? Clip(*stop, frame_count) : frame_count;
  const uint64_t stride = static_cast<uint64_t>(step);
  FrameRange range{first, stride, 0};
  if (last > first) range.size = (last - first - 1) / stride + 1;
  return range;
}

Result<Slice> ParseSlice(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ':');
  if (parts.size() < 2) {
    return BadSlice(text, "not a slice (for single frames use --at)");
  }
  if (parts.size() > 3) return BadSlice(text, "too many colons");
  std::optional<int64_t> values[3];
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    values[i] = ParseInteger(parts[i]);
    if (!values[i]) {
      return BadSlice(text, fmt::format("'{}' is not an integer", parts[i]));
    }
  }
  const int64_t step = values[2].value_or(1);
  if (step < 1) return BadSlice(text, "the step must be at least 1");
  return Slice{values[0], values[1], step};
}

Result<std::vector<int64_t>> ParseIndices(std::string_view text) {
  std::vector<int64_t> indices;
  for (std::string_view part : Split(text, ',')) {
    const std::optional<int64_t> index = ParseInteger(part);
    if (!index) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--at {}: '{}' is not an integer; write frame "
                                "indices with commas, such as 0,25,-1",
                                text, part));
    }
    indices.push_back(*index);
  }
  return indices;
}

Result<uint64_t> ResolveIndex(int64_t index, uint64_t frame_count) {
  const bool from_end = index < 0;
  // The negation is of an unsigned number, so that INT64_MIN cannot overflow.
  const uint64_t distance =
      from_end ? -static_cast<uint64_t>(index) : static_cast<uint64_t>(index);
  const bool exists =
      from_end ? distance <= frame_count : distance < frame_count;
  if (!exists) {
    return Status(
        Code::kOutOfRange,
        fmt::format("there is no frame {}: the stream has {} frames{}", index,
                    frame_count,
                    frame_count == 0
                        ? std::string()
                        : fmt::format(", 0 to {}", frame_count - 1)));
  }
  return from_end ? frame_count - distance : distance;
}

}  // namespace bulkhead::decoding
