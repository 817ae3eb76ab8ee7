// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/avi_index.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace bulkhead::worker {
namespace {

constexpr int64_t kHeaderBytes = 8;
constexpr int64_t kListBytes = 12;
constexpr int64_t kEntryBytes = 16;
constexpr int64_t kMostBytes = int64_t{128} << 20;
constexpr size_t kMostEntries = size_t{1} << 20;
// Lists and chunks before the index, beside those of the streams.
constexpr int kMostChunks = 1 << 10;

uint32_t Number(std::span<const uint8_t> bytes, size_t at, size_t count = 4) {
  uint32_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | bytes[at + i];
  return value;
}

std::string_view Text(std::span<const uint8_t> bytes, size_t at) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, 4};
}

// The facts that the headers of a file tell of a stream.
struct Layout {
  int64_t movi = 0;       // the offset of the list of chunks, at its kind
  int64_t end = 0;        // the offset behind it
  uint32_t in_chunk = 0;  // bytes of a sample, if chunks have any number
  uint32_t block = 0;     // bytes of a chunk with one unit of time, at most
};

// Finds the list of chunks, and on the way there the headers of the stream.
std::optional<Layout> ReadLayout(FileWindow& file, int stream) {
  Layout layout;
  int streams = 0;
  int64_t at = kListBytes;
  for (int i = 0; i < kMostChunks; ++i) {
    const auto bytes = file.At(at, kHeaderBytes + 56);
    if (bytes.size() < static_cast<size_t>(kListBytes)) return std::nullopt;
    const std::string_view code = Text(bytes, 0);
    const int64_t size = Number(bytes, 4);
    if (code == "LIST") {
      const std::string_view kind = Text(bytes, 8);
      if (kind == "movi") {
        layout.movi = at + kHeaderBytes;
        layout.end = layout.movi + size + size % 2;
        return layout;
      }
      if (kind == "strl") ++streams;
      const bool enters = kind == "hdrl" || kind == "strl";
      at += enters ? kListBytes : kHeaderBytes + size + size % 2;
      continue;
    }
    const bool is_wanted = streams == stream + 1;
    if (is_wanted && code == "strh" && bytes.size() >= 8 + 48) {
      layout.in_chunk = Number(bytes, 8 + 44);
    }
    if (is_wanted && code == "strf" && bytes.size() >= 8 + 14) {
      layout.block = Number(bytes, 8 + 12, 2);
    }
    at += kHeaderBytes + size + size % 2;
  }
  return std::nullopt;
}

}  // namespace

std::optional<AviIndex> AviIndex::Read(FileWindow file, int64_t declared,
                                       int stream) {
  const auto layout = ReadLayout(file, stream);
  if (!layout || stream > 99) return std::nullopt;
  AviIndex index;
  int64_t at = 0;
  int64_t listed = 0;  // bytes of the index
  for (const int64_t lost : {int64_t{0}, declared - file.size()}) {
    const auto bytes = file.At(layout->end - lost, kHeaderBytes);
    if (bytes.size() < kHeaderBytes || Text(bytes, 0) != "idx1") continue;
    index.lost_bytes_ = lost;
    listed = std::min(int64_t{Number(bytes, 4)}, kMostBytes);
    at = layout->end - lost;
    break;
  }
  if (at == 0) return std::nullopt;
  const int64_t end = std::min(at + kHeaderBytes + listed, file.size());
  std::vector<Entry> entries;
  std::optional<int64_t> base;
  int64_t units = 0;
  for (at += kHeaderBytes; at + kEntryBytes <= end; at += kEntryBytes) {
    const auto bytes = file.At(at, kEntryBytes);
    if (bytes.size() < kEntryBytes) break;
    const int64_t offset = Number(bytes, 8);
    const uint32_t size = Number(bytes, 12);
    // Counted from the list, or from the start of the file.
    if (!base) base = offset < layout->movi ? layout->movi : 0;
    if (bytes[0] - '0' != stream / 10 || bytes[1] - '0' != stream % 10) {
      continue;
    }
    const int64_t place = *base + offset;
    if (entries.size() >= kMostEntries ||
        (!entries.empty() && place <= entries.back().offset)) {
      return std::nullopt;
    }
    entries.push_back({place, size, 0});
    if (layout->in_chunk > 0) {
      entries.back().time = units / layout->in_chunk;
      units += size;
    } else {
      entries.back().time = units;
      const uint32_t block = std::max(layout->block, 1U);
      units += layout->block == 0 ? 1 : (int64_t{size} + block - 1) / block;
      index.is_exact_ &= layout->block == 0 || size <= layout->block;
    }
  }
  index.end_ = units / std::max(layout->in_chunk, 1U);
  index.entries_ =
      std::make_shared<const std::vector<Entry>>(std::move(entries));
  return index;
}

std::optional<int64_t> AviIndex::TimeOf(FileWindow& file, int64_t offset,
                                        bool is_lost) {
  const auto bytes = file.At(offset, kHeaderBytes);
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const uint32_t size = Number(bytes, 4);
  const auto find = [&](int64_t shift) {
    const auto entry = std::lower_bound(
        entries_->begin(), entries_->end(), offset + shift,
        [](const Entry& one, int64_t at) { return one.offset < at; });
    return entry != entries_->end() && entry->offset == offset + shift &&
                   entry->size == size
               ? std::make_optional(entry->time)
               : std::nullopt;
  };
  const int64_t other = shift_ == 0 ? lost_bytes_ : 0;
  const auto as_before = find(shift_);
  const auto as_after = other != shift_ ? find(other) : std::nullopt;
  const bool changes = as_after && (is_lost || !as_before);
  if (!as_before && !as_after) return std::nullopt;
  is_ambiguous_ = changes && !is_lost && matched_twice_;
  matched_twice_ = as_before && as_after;
  if (changes) shift_ = other;
  return changes ? as_after : as_before;
}

}  // namespace bulkhead::worker
