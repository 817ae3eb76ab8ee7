// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/wavpack_end.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace bulkhead::worker {
namespace {

constexpr size_t kHeaderBytes = 32;
// The last block is looked for in so many bytes. A block has half as many.
constexpr int64_t kMostBytes = 2 << 20;

uint32_t Number(std::span<const uint8_t> bytes, size_t at) {
  return bytes[at] | uint32_t{bytes[at + 1]} << 8 |
         uint32_t{bytes[at + 2]} << 16 | uint32_t{bytes[at + 3]} << 24;
}

}  // namespace

std::optional<WavpackEnd> ReadWavpackEnd(MediaBytes file, int64_t size,
                                         int64_t from) {
  constexpr std::string_view kName = "wvpk";
  constexpr uint32_t kLeastVersion = 0x402;
  constexpr uint32_t kMostVersion = 0x410;
  constexpr uint32_t kMostSamples = 1 << 24;
  from = std::max<int64_t>({from, 0, size - kMostBytes});
  if (from >= size) return std::nullopt;
  std::vector<uint8_t> bytes(static_cast<size_t>(size - from));
  const ssize_t got = file.ReadAt(from, bytes);
  if (got < static_cast<ssize_t>(kHeaderBytes)) return std::nullopt;
  bytes.resize(static_cast<size_t>(got));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  for (size_t at = bytes.size() - kHeaderBytes;; --at) {
    at = text.rfind(kName, at);
    if (at == text.npos) return std::nullopt;
    const auto header = std::span(bytes).subspan(at, kHeaderBytes);
    const uint32_t version = Number(header, 8) & 0xffff;
    const uint32_t samples = Number(header, 20);
    if (version >= kLeastVersion && version <= kMostVersion && samples > 0 &&
        samples <= kMostSamples) {
      // The number has 40 bits.
      const int64_t first = Number(header, 16) | int64_t{header[10]} << 32;
      const int64_t end =
          from + static_cast<int64_t>(at) + 8 + int64_t{Number(header, 4)};
      return WavpackEnd{first + samples, end > size};
    }
    if (at == 0) return std::nullopt;
  }
}

}  // namespace bulkhead::worker
