// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/ogg_walk.h"

#include <cstring>
#include <string_view>

extern "C" {
#include <libavutil/crc.h>
}

namespace bulkhead::worker {
namespace {

constexpr size_t kHeaderBytes = 27;
constexpr size_t kChecksumAt = 22;
constexpr size_t kMostPageBytes = kHeaderBytes + 255 + 255 * 255;

uint64_t ReadLittle(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

std::optional<OggPageHeader> ReadOggPage(FileWindow& file, int64_t offset) {
  const auto bytes = file.At(offset, kHeaderBytes + 255);
  if (bytes.size() < kHeaderBytes ||
      std::memcmp(bytes.data(), "OggS\0", 5) != 0) {
    return std::nullopt;
  }
  const size_t segments = bytes[kHeaderBytes - 1];
  if (bytes.size() < kHeaderBytes + segments) return std::nullopt;
  OggPageHeader page;
  page.flags = bytes[5];
  page.granule = static_cast<int64_t>(ReadLittle(bytes.subspan(6, 8)));
  page.serial = static_cast<uint32_t>(ReadLittle(bytes.subspan(14, 4)));
  page.number = static_cast<uint32_t>(ReadLittle(bytes.subspan(18, 4)));
  page.checksum =
      static_cast<uint32_t>(ReadLittle(bytes.subspan(kChecksumAt, 4)));
  page.end = offset + static_cast<int64_t>(kHeaderBytes + segments);
  for (const uint8_t size : bytes.subspan(kHeaderBytes, segments)) {
    page.end += size;
  }
  return page;
}

bool OggWalk::LostUntil(int64_t position) {
  if (position < 0 || position == last_) return false;
  const bool forward = position > last_;
  last_ = position;
  const auto at = ReadOggPage(file_, position);
  if (!at) return false;
  if (!forward || !serial_ || at->serial != *serial_) {
    // Also the next part of a chain of streams.
    if (serial_ && at->serial != *serial_) next_ = -1;
    if (!forward) next_ = -1;
    if (next_ < 0) {
      number_.reset();
      in_headers_ = false;
    }
    serial_ = at->serial;
  }
  bool lost = false;
  const int64_t from = next_;
  while (next_ >= 0 && next_ < position) {
    const auto page = ReadOggPage(file_, next_);
    if (!page || page->end > position) break;
    if (page->serial == *serial_) lost |= Take(*page, next_);
    next_ = page->end;
  }
  // Behind the headers, numbers do not tell what is overwritten.
  if (in_headers_ && number_ && next_ < position) lost = true;
  lost |= Take(*at, position);
  if (lost) broken_at_ = next_ < 0 || next_ > position ? from : next_;
  next_ = at->end;
  return lost;
}

bool OggWalk::LostUntilEnd() {
  while (serial_ && next_ >= 0 && next_ < file_.size()) {
    const auto page = ReadOggPage(file_, next_);
    broken_at_ = next_;
    if (!page && has_ended_ && !HasPageBehind(next_)) return false;
    if (!page || page->end > file_.size()) return true;
    if (page->serial == *serial_ && Take(*page, next_)) return true;
    next_ = page->end;
  }
  return false;
}

bool OggWalk::HasPageBehind(int64_t offset) {
  constexpr size_t kPartBytes = 1 << 16;
  constexpr std::string_view kName("OggS\0", 5);
  while (offset < file_.size()) {
    const auto bytes = file_.At(offset, kPartBytes);
    if (bytes.size() < kName.size()) return false;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                                bytes.size());
    if (text.find(kName) != text.npos) return true;
    offset += static_cast<int64_t>(bytes.size() - kName.size() + 1);
  }
  return false;
}

bool OggWalk::Take(const OggPageHeader& page, int64_t offset) {
  if (!HasRightChecksum(page, offset)) {
    // Its number may be wrong as well; the next page shows it.
    has_ended_ = false;
    return true;
  }
  const bool begins = (page.flags & OggPageHeader::kFirst) != 0;
  const bool lost =
      number_ && !begins && !in_headers_ && page.number != *number_ + 1;
  number_ = page.number;
  has_ended_ = (page.flags & OggPageHeader::kLast) != 0;
  // Pages of headers have the time 0, or none if no header ends there.
  in_headers_ = (begins || in_headers_) && page.granule <= 0;
  return lost;
}

bool OggWalk::HasRightChecksum(const OggPageHeader& page, int64_t offset) {
  static_assert(kMostPageBytes < (1 << 17));
  const auto bytes = file_.At(offset, static_cast<size_t>(page.end - offset));
  if (static_cast<int64_t>(bytes.size()) < page.end - offset) return false;
  const AVCRC* const table = av_crc_get_table(AV_CRC_32_IEEE);
  constexpr uint8_t kNoChecksum[4] = {};
  uint32_t crc = av_crc(table, 0, bytes.data(), kChecksumAt);
  crc = av_crc(table, crc, kNoChecksum, sizeof(kNoChecksum));
  crc = av_crc(table, crc, bytes.data() + kChecksumAt + 4,
               bytes.size() - kChecksumAt - 4);
  return __builtin_bswap32(crc) == page.checksum;
}

void OggWalk::Restart() {
  last_ = -1;
  next_ = -1;
  number_.reset();
  in_headers_ = false;
  has_ended_ = false;
}

}  // namespace bulkhead::worker
