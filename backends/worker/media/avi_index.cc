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
  int64_t movi = 0;         // the offset of the list of chunks, at its kind
  int64_t end = 0;          // the offset behind it; 0: the list is not found
  uint32_t in_chunk = 0;    // bytes of a sample, if chunks have any number
  uint32_t block = 0;       // bytes of a chunk with one unit of time, at most
  bool has_stream = false;  // the headers of the stream are found
};

// Finds the list of chunks, and on the way there the headers of the stream.
Layout ReadLayout(FileWindow& file, int stream) {
  Layout layout;
  int streams = 0;
  int64_t at = kListBytes;
  for (int i = 0; i < kMostChunks; ++i) {
    const auto bytes = file.At(at, kHeaderBytes + 56);
    if (bytes.size() < static_cast<size_t>(kListBytes)) return layout;
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
    layout.has_stream |= is_wanted && code == "strf";
    if (is_wanted && code == "strf" && bytes.size() >= 8 + 14) {
      layout.block = Number(bytes, 8 + 12, 2);
    }
    at += kHeaderBytes + size + size % 2;
  }
  return layout;
}

bool IsIndex(FileWindow& file, int64_t offset) {
  const auto bytes = file.At(offset, kHeaderBytes);
  return bytes.size() == kHeaderBytes && Text(bytes, 0) == "idx1";
}

// Returns the offset of the index that ends at `end`, or 0.
int64_t IndexThatEndsAt(FileWindow& file, int64_t end) {
  constexpr int64_t kPartBytes = kEntryBytes << 12;
  constexpr int64_t kMostListed = kEntryBytes * int64_t{kMostEntries};
  for (int64_t part = end; part > end - kMostListed; part -= kPartBytes) {
    // All at once, since the search goes backwards.
    (void)file.At(std::max<int64_t>(part - kPartBytes, 0), kPartBytes);
    for (int64_t at = part; at > part - kPartBytes; at -= kEntryBytes) {
      const int64_t header = at - kHeaderBytes;
      if (header < kListBytes) return 0;
      if (IsIndex(file, header) &&
          Number(file.At(header, kHeaderBytes), 4) == end - at) {
        return header;
      }
    }
  }
  return 0;
}

// Returns from where the index at `at` counts offsets: its last chunk is in
// front of it. `lost` bytes are missing before that.
std::optional<int64_t> BaseOf(FileWindow& file, int64_t at, int64_t lost) {
  const int64_t listed = Number(file.At(at, kHeaderBytes), 4);
  const auto entry =
      file.At(at + kHeaderBytes + listed - kEntryBytes, kEntryBytes);
  if (listed < kEntryBytes || entry.size() < kEntryBytes) return std::nullopt;
  const int64_t offset = Number(entry, 8);
  const int64_t size = Number(entry, 12);
  const int64_t chunk = at - kHeaderBytes - size - size % 2;
  const auto bytes = file.At(chunk, kHeaderBytes);
  if (bytes.size() < kHeaderBytes || Number(bytes, 4) != size) {
    return std::nullopt;
  }
  return chunk + lost - offset;
}

}  // namespace

std::optional<AviIndex> AviIndex::Read(FileWindow file, int64_t declared,
                                       int stream) {
  const Layout layout = ReadLayout(file, stream);
  if (stream > 99) return std::nullopt;
  AviIndex index;
  std::optional<int64_t> base;
  int64_t at = 0;
  for (const int64_t lost : {int64_t{0}, declared - file.size()}) {
    if (!IsIndex(file, layout.end - lost)) continue;
    index.lost_bytes_ = lost;
    at = layout.end - lost;
    break;
  }
  if (layout.end == 0 && layout.has_stream) {
    index.lost_bytes_ = std::max<int64_t>(declared - file.size(), 0);
    const bool has_end = declared > 0 && declared < file.size();
    at = IndexThatEndsAt(file, has_end ? declared : file.size());
    if (at > 0) base = BaseOf(file, at, index.lost_bytes_);
    if (!base) return std::nullopt;
  }
  if (at == 0) return std::nullopt;
  const int64_t listed =
      std::min(int64_t{Number(file.At(at, kHeaderBytes), 4)}, kMostBytes);
  const int64_t end = std::min(at + kHeaderBytes + listed, file.size());
  std::vector<Entry> entries;
  int64_t units = 0;
  for (at += kHeaderBytes; at + kEntryBytes <= end; at += kEntryBytes) {
    const auto bytes = file.At(at, kEntryBytes);
    if (bytes.size() < kEntryBytes) break;
    const int64_t offset = Number(bytes, 8);
    const uint32_t size = Number(bytes, 12);
    // Counted from the list, or from the start of the file.
    if (!base) base = offset < layout.movi ? layout.movi : 0;
    if (bytes[0] - '0' != stream / 10 || bytes[1] - '0' != stream % 10) {
      continue;
    }
    const int64_t place = *base + offset;
    if (entries.size() >= kMostEntries ||
        (!entries.empty() && place <= entries.back().offset)) {
      return std::nullopt;
    }
    entries.push_back({place, size, 0});
    if (layout.in_chunk > 0) {
      entries.back().time = units / layout.in_chunk;
      units += size;
    } else {
      entries.back().time = units;
      const uint32_t block = std::max(layout.block, 1U);
      units += layout.block == 0 ? 1 : (int64_t{size} + block - 1) / block;
      index.is_exact_ &= layout.block == 0 || size <= layout.block;
    }
  }
  index.end_ = units / std::max(layout.in_chunk, 1U);
  index.entries_ =
      std::make_shared<const std::vector<Entry>>(std::move(entries));
  return index;
}

uint64_t AviIndex::FramesIn(int64_t begin, int64_t end) const {
  return static_cast<uint64_t>(
      std::count_if(entries_->begin(), entries_->end(), [&](const Entry& one) {
        return one.size > 0 && one.offset >= begin && one.offset < end;
      }));
}

std::optional<uint64_t> AviIndex::FramesBetween(int64_t from, int64_t to) {
  for (const int64_t shift : {shift_, shift_ == 0 ? lost_bytes_ : 0}) {
    const bool is_listed = std::binary_search(
        entries_->begin(), entries_->end(), Entry{.offset = to + shift},
        [](const Entry& one, const Entry& other) {
          return one.offset < other.offset;
        });
    if (!is_listed) continue;
    const int64_t before = std::exchange(shift_, shift);
    return FramesIn(from + before, to + shift);
  }
  return std::nullopt;
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
