// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/matroska_elements.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>

namespace bulkhead::worker {
namespace {

constexpr uint32_t kSegment = 0x18538067;
constexpr uint32_t kCluster = 0x1f43b675;
constexpr uint32_t kBlockGroup = 0xa0;
constexpr uint32_t kBlock = 0xa1;
constexpr uint32_t kSimpleBlock = 0xa3;
// The others that can be beside blocks, or beside clusters.
constexpr uint32_t kOthers[] = {
    0xec,       0xbf,                                            // anywhere
    0x1a45dfa3, 0x114d9b74, 0x1549a966, 0x1654ae6b, 0x1c53bb6b,  // in a segment
    0x1043a770, 0x1254c367, 0x1941a469,                          // or the file
    0xe7,       0xa7,       0xab,       0x5854,     0xaf,        // in a cluster
    0x9b,       0xfb,       0xfd,       0xfa,       0xa4,        // in a group
    0x75a2,     0x75a1,     0xa2,       0x8e,       0xc8,        // of blocks
};
constexpr int64_t kUnknownSize = -1;
constexpr int kMostElements = 1 << 20;
// A block's data begin with the number of its track, a time and flags.
constexpr int64_t kEmptyBlock = 4;
constexpr size_t kMostHeadBytes = 12;
// The elements before the first block of a cluster are shorter.
constexpr int64_t kClusterHeadBytes = 128;

struct Element {
  uint32_t id = 0;
  int64_t data = 0;  // the offset behind the head
  int64_t size = 0;  // or kUnknownSize

  bool IsBlock() const { return id == kBlock || id == kSimpleBlock; }
  bool IsKnown() const {
    return IsBlock() || HasBlocks() ||
           std::find(std::begin(kOthers), std::end(kOthers), id) !=
               std::end(kOthers);
  }
  // Elements that are entered, since they contain blocks.
  bool HasBlocks() const {
    return id == kSegment || id == kCluster || id == kBlockGroup;
  }
};

// Reads heads of elements through a small window, since they are close together
// in most files.
class Elements {
 public:
  explicit Elements(MediaBytes file) : file_(file) {}

  // Returns nullopt if there is no element that can be there.
  std::optional<Element> At(int64_t offset) {
    const auto bytes = BytesAt(offset);
    if (bytes.empty() || bytes[0] < 0x10) return std::nullopt;
    const auto id_bytes = static_cast<size_t>(std::countl_zero(bytes[0])) + 1;
    if (id_bytes >= bytes.size() || bytes[id_bytes] == 0) return std::nullopt;
    const auto size_bytes =
        static_cast<size_t>(std::countl_zero(bytes[id_bytes])) + 1;
    if (id_bytes + size_bytes > bytes.size()) return std::nullopt;
    Element element;
    for (size_t i = 0; i < id_bytes; ++i) {
      element.id = element.id << 8 | bytes[i];
    }
    const uint64_t most = (uint64_t{1} << (7 * size_bytes)) - 1;
    uint64_t size = 0;
    for (size_t i = 0; i < size_bytes; ++i) {
      size = size << 8 | bytes[id_bytes + i];
    }
    size &= most;
    element.data = offset + static_cast<int64_t>(id_bytes + size_bytes);
    element.size = size == most ? kUnknownSize : static_cast<int64_t>(size);
    if (!element.IsKnown()) return std::nullopt;
    return element;
  }

 private:
  std::span<const uint8_t> BytesAt(int64_t offset) {
    const auto rest = [&] {
      const int64_t begin = offset - begin_;
      return begin < 0 || begin > static_cast<int64_t>(count_)
                 ? std::span<const uint8_t>()
                 : std::span<const uint8_t>(window_).subspan(
                       static_cast<size_t>(begin),
                       count_ - static_cast<size_t>(begin));
    };
    if (rest().size() < kMostHeadBytes) {
      const ssize_t got = file_.ReadAt(offset, window_);
      count_ = static_cast<size_t>(std::max<ssize_t>(got, 0));
      begin_ = offset;
    }
    return rest().first(std::min(rest().size(), kMostHeadBytes));
  }

  MediaBytes file_;
  std::array<uint8_t, 4096> window_{};
  int64_t begin_ = 0;
  size_t count_ = 0;
};

// Returns true if the elements from `at` on lead to the block at `to`.
bool Leads(Elements elements, int64_t at, int64_t to, bool alone) {
  for (int i = 0; i < kMostElements; ++i) {
    if (at >= to) return false;
    const auto element = elements.At(at);
    if (!element) return false;
    if (element->IsBlock() && element->data == to) return true;
    if (element->IsBlock() && element->size > kEmptyBlock && alone) {
      return false;
    }
    if (element->HasBlocks()) {
      at = element->data;
    } else if (element->size == kUnknownSize ||
               element->size > to - element->data) {
      return false;
    } else {
      at = element->data + element->size;
    }
  }
  return true;
}

// Calls `test` with the end of the block at `data` until that returns true.
// Several heads can be read backward from there.
template <typename Test>
bool AnyEndOfBlock(MediaBytes file, int64_t data, Test test) {
  Elements elements(file);
  for (int64_t head = 2; head <= 9 && head <= data; ++head) {
    const auto block = elements.At(data - head);
    if (!block || !block->IsBlock() || block->data != data ||
        block->size == kUnknownSize || block->size > INT64_MAX - data) {
      continue;
    }
    if (test(data + block->size)) return true;
  }
  return false;
}

// Returns the offset at which the segment says that it ends, 0 if it does not.
std::optional<int64_t> EndOfSegment(Elements elements) {
  int64_t at = 0;
  for (int i = 0; i < 4; ++i) {
    const auto element = elements.At(at);
    if (!element) return std::nullopt;
    if (element->size == kUnknownSize) {
      return element->id == kSegment ? std::make_optional<int64_t>(0)
                                     : std::nullopt;
    }
    at = element->data + element->size;
    if (element->id == kSegment) return at;
  }
  return std::nullopt;
}

}  // namespace

bool MatroskaLeadsTo(MediaBytes file, int64_t from, int64_t to, bool alone) {
  const auto leads = [&](int64_t at) {
    return Leads(Elements(file), at, to, alone);
  };
  return from < 0 ? leads(0) : AnyEndOfBlock(file, from, leads);
}

bool MatroskaBeginsCluster(MediaBytes file, int64_t to) {
  for (int64_t at = std::max<int64_t>(to - kClusterHeadBytes, 0); at < to;
       ++at) {
    Elements elements(file);
    const auto element = elements.At(at);
    if (element && element->id == kCluster && Leads(elements, at, to, true)) {
      return true;
    }
  }
  return false;
}

bool MatroskaEndsBehind(MediaBytes file, int64_t from, int64_t size) {
  const auto segment = EndOfSegment(Elements(file));
  if (!segment || *segment > size) return false;
  const int64_t end = *segment > 0 ? *segment : size;
  return AnyEndOfBlock(file, from, [&](int64_t at) {
    Elements elements(file);
    for (int i = 0; i < kMostElements && at != end; ++i) {
      const auto element = elements.At(at);
      if (!element || element->data > end) return false;
      const bool is_lost = element->IsBlock() && element->size > kEmptyBlock;
      if (is_lost) return false;
      if (element->HasBlocks()) {
        at = element->data;
      } else if (element->size == kUnknownSize ||
                 element->size > end - element->data) {
        return false;
      } else {
        at = element->data + element->size;
      }
    }
    return true;
  });
}

}  // namespace bulkhead::worker
