// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/declared_size.h"

#include <algorithm>
#include <span>

#include "backends/worker/media/file_window.h"
#include "backends/worker/media/matroska_walk.h"
#include "backends/worker/media/ogg_walk.h"

namespace bulkhead::worker {
namespace {

// A file has few parts at the top. A fragmented MP4 has two for each fragment.
constexpr int kMostParts = 1 << 16;
constexpr int64_t kMostOggPage = 27 + 255 + 255 * 255;
// Programs that cannot seek back write the largest number, or the largest with
// a sign, less what is before it.
constexpr int64_t kLeastUnknown = 0x7fff0000;

uint64_t Read(std::span<const uint8_t> bytes, bool big_endian) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value = value << 8 | bytes[big_endian ? i : bytes.size() - 1 - i];
  }
  return value;
}

std::string_view Text(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int64_t Sum(int64_t a, uint64_t b) {
  int64_t sum;
  return b > INT64_MAX ||
                 __builtin_add_overflow(a, static_cast<int64_t>(b), &sum)
             ? 0
             : sum;
}

int64_t OfMatroska(FileWindow& file) {
  constexpr uint32_t kSegment = 0x18538067;
  int64_t at = 0;
  for (int part = 0; part < 4; ++part) {
    const auto element = ReadEbmlElement(file, at);
    if (!element || element->size < 0) return 0;
    at = Sum(element->data, static_cast<uint64_t>(element->size));
    if (element->id == kSegment) return at;
  }
  return 0;
}

int64_t OfRiff(FileWindow& file) {
  constexpr int64_t kHeaderBytes = 12;
  int64_t end = 0;
  for (int64_t at = 0; at < file.size() && end < file.size();) {
    const auto bytes = file.At(at, kHeaderBytes);
    if (bytes.size() < kHeaderBytes) return end;
    const std::string_view code = Text(bytes.first(4));
    if (code == "RF64" || code == "BW64") {
      const auto ds64 = file.At(kHeaderBytes, 16);
      if (ds64.size() < 16 || Text(ds64.first(4)) != "ds64") return end;
      return Sum(8, Read(ds64.subspan(8, 8), false));
    }
    const auto size = static_cast<int64_t>(Read(bytes.subspan(4, 4), false));
    if (code != "RIFF" || size < 4 || size >= kLeastUnknown) return end;
    end = at = at + 8 + size;
  }
  return end;
}

int64_t OfBoxes(FileWindow& file) {
  int64_t at = 0;
  for (int part = 0; part < kMostParts && at < file.size(); ++part) {
    const auto bytes = file.At(at, 16);
    if (bytes.size() < 8) return 0;
    const std::string_view kind = Text(bytes.subspan(4, 4));
    const bool is_kind = std::all_of(
        kind.begin(), kind.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!is_kind) return 0;
    uint64_t size = Read(bytes.first(4), true);
    if (size == 1 && bytes.size() == 16) size = Read(bytes.subspan(8, 8), true);
    // 0: up to the end of the file.
    if (size < 8) return 0;
    at = Sum(at, size);
    if (at == 0) return 0;
    if (at > file.size() && kind != "mdat" && kind != "moof") return 0;
  }
  return at;
}

int64_t OfOgg(FileWindow& file) {
  const int64_t from = std::max<int64_t>(file.size() - kMostOggPage, 0);
  // All at once, since the search goes backwards.
  (void)file.At(from, static_cast<size_t>(kMostOggPage));
  for (int64_t at = file.size(); at-- > from;) {
    if (const auto page = ReadOggPage(file, at)) return page->end;
  }
  return 0;
}

int64_t OfTransport(FileWindow& file) {
  constexpr int64_t kPacketBytes = 188;
  constexpr uint8_t kSync = 0x47;
  const int64_t last = file.size() / kPacketBytes * kPacketBytes;
  if (last == file.size()) return 0;
  for (const int64_t at :
       {int64_t{0}, kPacketBytes, last - kPacketBytes, last}) {
    const auto byte = file.At(at, 1);
    if (byte.empty() || byte[0] != kSync) return 0;
  }
  return last + kPacketBytes;
}

}  // namespace

int64_t DeclaredSize(std::string_view container, MediaBytes bytes,
                     int64_t size) {
  FileWindow file(bytes, size);
  int64_t declared = 0;
  if (container == "matroska,webm") declared = OfMatroska(file);
  if (container == "avi" || container == "wav") declared = OfRiff(file);
  if (container == "mov,mp4,m4a,3gp,3g2,mj2") declared = OfBoxes(file);
  if (container == "mpegts") declared = OfTransport(file);
  if (container == "ogg") declared = OfOgg(file);
  return declared;
}

}  // namespace bulkhead::worker
