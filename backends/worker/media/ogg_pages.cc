// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/ogg_pages.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

namespace bulkhead::worker {
namespace {

constexpr std::string_view kPattern("OggS\0", 5);  // and version 0
// The offsets of the fields of a page.
constexpr size_t kFlags = 5;
constexpr size_t kGranule = 6;
constexpr size_t kSerial = 14;
constexpr size_t kSequence = 18;
constexpr size_t kChecksum = 22;
constexpr size_t kSegments = 26;
constexpr size_t kHeaderBytes = 27;
constexpr size_t kMostPageBytes = kHeaderBytes + 255 + 255 * size_t{255};
constexpr size_t kWindow = 128 << 10;
static_assert(kWindow > kMostPageBytes);

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i << 24;
    for (int bit = 0; bit < 8; ++bit) {
      value = value << 1 ^ ((value >> 31) != 0 ? 0x04c11db7 : 0);
    }
    table[i] = value;
  }
  return table;
}();

uint64_t Number(const uint8_t* bytes, size_t count) {
  uint64_t value = 0;
  while (count-- > 0) value = value << 8 | bytes[count];
  return value;
}

bool HasRightChecksum(std::span<const uint8_t> page) {
  uint32_t sum = 0;
  for (size_t i = 0; i < page.size(); ++i) {
    const bool is_checksum = i >= kChecksum && i < kChecksum + 4;
    sum = sum << 8 ^ kTable[sum >> 24 ^ (is_checksum ? 0 : page[i])];
  }
  return sum == Number(&page[kChecksum], 4);
}

// Splits the body of a page at the ends of packets. `sizes` are the page's
// lacing values; bytes that the file does not have are left out.
std::vector<OggPart> PartsOf(std::span<const uint8_t> sizes,
                             std::span<const uint8_t> body) {
  std::vector<OggPart> parts;
  OggPart part;
  for (size_t i = 0; i < sizes.size(); ++i) {
    part.bytes += sizes[i];
    part.ends = sizes[i] < 255;
    if (!part.ends && i + 1 < sizes.size()) continue;
    std::copy_n(body.begin(),
                std::min({part.bytes, part.start.size(), body.size()}),
                part.start.begin());
    body = body.subspan(std::min(part.bytes, body.size()));
    parts.push_back(std::exchange(part, {}));
  }
  return parts;
}

}  // namespace

std::span<const uint8_t> OggPages::At(int64_t offset, size_t count) {
  const auto end = window_begin_ + static_cast<int64_t>(window_.size());
  const bool is_there =
      offset >= window_begin_ && offset <= end &&
      (is_last_window_ || end - offset >= static_cast<int64_t>(count));
  if (!is_there) {
    window_.resize(kWindow);
    window_begin_ = offset;
    is_last_window_ = false;
    size_t got = 0;
    while (got < count && !is_last_window_) {
      const ssize_t more = file_.ReadAt(offset + static_cast<int64_t>(got),
                                        std::span(window_).subspan(got));
      is_last_window_ = more <= 0;
      got += static_cast<size_t>(std::max<ssize_t>(more, 0));
    }
    window_.resize(got);
  }
  const auto rest =
      std::span(window_).subspan(static_cast<size_t>(offset - window_begin_));
  return rest.first(std::min(count, rest.size()));
}

bool OggPages::FindPage(int64_t limit) {
  while (at_ < limit) {
    const auto bytes = At(at_, kMostPageBytes);
    if (bytes.size() < kHeaderBytes) {
      stray_ += static_cast<int64_t>(bytes.size());
      at_ += static_cast<int64_t>(bytes.size());
      return false;
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                bytes.size());
    const size_t found = text.find(kPattern);
    const size_t passed =
        found == text.npos ? text.size() - (kPattern.size() - 1) : found;
    stray_ += static_cast<int64_t>(passed);
    at_ += static_cast<int64_t>(passed);
    if (found != text.npos) return at_ < limit;
  }
  return false;
}

std::optional<OggPage> OggPages::Next(int64_t limit) {
  while (FindPage(limit)) {
    auto bytes = At(at_, kMostPageBytes);
    if (bytes.size() < kHeaderBytes) continue;
    const size_t segments = bytes[kSegments];
    const size_t body = kHeaderBytes + segments;
    const auto sizes = bytes.subspan(
        kHeaderBytes, std::min(segments, bytes.size() - kHeaderBytes));
    const size_t size = std::accumulate(sizes.begin(), sizes.end(), body);
    const bool is_whole = size <= bytes.size();
    bytes = bytes.first(std::min(size, bytes.size()));

    OggPage page;
    page.offset = at_;
    page.end = at_ + static_cast<int64_t>(size);
    page.continues = (bytes[kFlags] & 1) != 0;
    page.begins_stream = (bytes[kFlags] & 2) != 0;
    page.ends_stream = (bytes[kFlags] & 4) != 0;
    const uint64_t granule = Number(&bytes[kGranule], 8);
    if (granule <= INT64_MAX / 4) {
      page.granule = static_cast<int64_t>(granule);
    }
    page.serial = static_cast<uint32_t>(Number(&bytes[kSerial], 4));
    page.sequence = static_cast<uint32_t>(Number(&bytes[kSequence], 4));
    page.parts = PartsOf(sizes, bytes.subspan(std::min(body, bytes.size())));
    if (is_whole && HasRightChecksum(bytes)) {
      page.stray_bytes = std::exchange(stray_, 0);
      torn_.reset();
      at_ = page.end;
      return page;
    }
    torn_ = std::move(page);
    // A whole page may begin within the bytes that the header claims.
    at_ += 4;
    stray_ += 4;
  }
  return std::nullopt;
}

}  // namespace bulkhead::worker
