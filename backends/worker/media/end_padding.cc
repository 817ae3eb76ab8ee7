// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/end_padding.h"

#include <algorithm>
#include <string_view>

namespace bulkhead::worker {
namespace {

constexpr int64_t kPartBytes = 4096;
constexpr int64_t kId3Bytes = 128;
constexpr int64_t kApeFooterBytes = 32;

// Returns how many bytes the tag that ends at `end` has; 0 if there is none.
int64_t TagBytes(FileWindow& file, int64_t end) {
  constexpr std::string_view kId3 = "TAG";
  constexpr std::string_view kApe = "APETAGEX";
  const auto begins = [&](int64_t at, std::string_view name) {
    const auto bytes = file.At(at, name.size());
    return std::equal(bytes.begin(), bytes.end(), name.begin(), name.end());
  };
  if (begins(end - kId3Bytes, kId3)) return kId3Bytes;
  const int64_t footer = end - kApeFooterBytes;
  if (!begins(footer, kApe)) return 0;
  const auto bytes = file.At(footer, kApeFooterBytes);
  if (bytes.size() < static_cast<size_t>(kApeFooterBytes)) return 0;
  const int64_t size = int64_t{bytes[12]} | int64_t{bytes[13]} << 8 |
                       int64_t{bytes[14]} << 16 | int64_t{bytes[15]} << 24;
  const bool has_header = (bytes[23] & 0x80) != 0;
  const int64_t all = size + (has_header ? kApeFooterBytes : 0);
  return size >= kApeFooterBytes && all <= end ? all : kApeFooterBytes;
}

// Returns the offset of the zeroes and line ends that lead to `end`.
int64_t BlankStart(FileWindow& file, int64_t end) {
  while (end > 0) {
    const int64_t from = std::max<int64_t>(end - kPartBytes, 0);
    const auto bytes = file.At(from, static_cast<size_t>(end - from));
    if (static_cast<int64_t>(bytes.size()) < end - from) return end;
    const auto last = std::find_if(
        bytes.rbegin(), bytes.rend(),
        [](uint8_t byte) { return byte != 0 && byte != '\r' && byte != '\n'; });
    end = from + (bytes.rend() - last);
    if (last != bytes.rend()) return end;
  }
  return end;
}

}  // namespace

int64_t PaddingStart(FileWindow& file) {
  int64_t end = file.size();
  for (;;) {
    const int64_t tag = TagBytes(file, end);
    const int64_t start = tag > 0 ? end - tag : BlankStart(file, end);
    if (start == end) return end;
    end = start;
  }
}

}  // namespace bulkhead::worker
