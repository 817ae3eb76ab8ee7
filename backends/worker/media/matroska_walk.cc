// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/matroska_walk.h"

#include <algorithm>

namespace bulkhead::worker {
namespace {

constexpr uint32_t kEbml = 0x1A45DFA3;
constexpr uint32_t kSegment = 0x18538067;
constexpr uint32_t kCluster = 0x1F43B675;
constexpr uint32_t kBlockGroup = 0xA0;
constexpr uint32_t kBlock = 0xA1;
constexpr uint32_t kSimpleBlock = 0xA3;

// Elements that are beside clusters, never in one.
bool IsOutsideClusters(uint32_t id) {
  switch (id) {
    case kEbml:
    case kSegment:
    case kCluster:
    case 0x114D9B74:  // SeekHead
    case 0x1549A966:  // Info
    case 0x1654AE6B:  // Tracks
    case 0x1C53BB6B:  // Cues
    case 0x1941A469:  // Attachments
    case 0x1043A770:  // Chapters
    case 0x1254C367:  // Tags
      return true;
    default:
      return false;
  }
}

// Returns the number of bytes of the number that begins with `first`: 9 if
// there is no such number.
size_t LengthOf(uint8_t first) {
  return first == 0 ? 9 : static_cast<size_t>(__builtin_clz(first) - 23);
}

}  // namespace

std::optional<EbmlElement> ReadEbmlElement(FileWindow& file, int64_t offset) {
  const auto bytes = file.At(offset, 12);
  if (bytes.empty()) return std::nullopt;
  const size_t id_length = LengthOf(bytes[0]);
  if (id_length > 4 || bytes.size() <= id_length) return std::nullopt;
  EbmlElement element;
  for (size_t i = 0; i < id_length; ++i) {
    element.id = element.id << 8 | bytes[i];
  }
  const size_t size_length = LengthOf(bytes[id_length]);
  if (size_length > 8 || bytes.size() < id_length + size_length) {
    return std::nullopt;
  }
  const uint64_t most = (uint64_t{1} << (7 * size_length)) - 1;
  uint64_t size = 0;
  for (size_t i = 0; i < size_length; ++i) {
    size = size << 8 | bytes[id_length + i];
  }
  size &= most;
  element.size = size == most ? -1 : static_cast<int64_t>(size);
  element.data = offset + static_cast<int64_t>(id_length + size_length);
  return element;
}

bool MatroskaWalk::LostUntil(int64_t position) {
  // The packets of one block have the same position.
  if (position < 0 || position == last_) return false;
  const bool forward = position > last_;
  last_ = position;
  if (forward && next_ >= 0 && !Walk(position)) {
    broken_at_ = std::min(next_, position);
    Resume(position);
    return true;
  }
  if (!forward || next_ < 0) Resume(position);
  return false;
}

bool MatroskaWalk::Walk(int64_t position) {
  bool whole = true;
  while (next_ < position) {
    const auto element = ReadEbmlElement(file_, next_);
    if (!element || element->data > position) return false;
    if (next_ >= cluster_end_) cluster_end_ = INT64_MAX;
    if (IsOutsideClusters(element->id)) {
      // Whole blocks were cut out of the cluster before.
      if (cluster_end_ != INT64_MAX) whole = false;
      cluster_end_ = INT64_MAX;
    }
    if (element->id == kSegment || element->id == kCluster ||
        element->id == kBlockGroup) {
      if (element->id == kCluster && element->size >= 0) {
        cluster_end_ = element->data + element->size;
      }
      next_ = element->data;
      continue;
    }
    const bool is_block = element->id == kBlock || element->id == kSimpleBlock;
    if (element->size < 0) return false;
    const int64_t end = element->data + element->size;
    if (is_block && element->data == position) {
      next_ = end;
      return whole && end <= cluster_end_;
    }
    if (end > position || end > cluster_end_) return false;
    next_ = end;
  }
  return false;
}

bool MatroskaWalk::LostUntilEnd() {
  if (next_ < 0) return false;
  while (next_ < file_.size()) {
    const auto element = ReadEbmlElement(file_, next_);
    broken_at_ = next_;
    if (!element) return true;
    const bool descends = element->id == kSegment || element->id == kCluster ||
                          element->id == kBlockGroup || element->size < 0;
    next_ = descends ? element->data : element->data + element->size;
  }
  return next_ > file_.size();
}

void MatroskaWalk::Resume(int64_t position) {
  cluster_end_ = INT64_MAX;
  next_ = -1;
  for (int64_t size_length = 1; size_length <= 8; ++size_length) {
    const auto element = ReadEbmlElement(file_, position - size_length - 1);
    if (element && element->data == position && element->size > 0 &&
        (element->id == kBlock || element->id == kSimpleBlock)) {
      next_ = position + element->size;
      return;
    }
  }
}

void MatroskaWalk::Restart() {
  last_ = -1;
  next_ = -1;
  cluster_end_ = INT64_MAX;
}

}  // namespace bulkhead::worker
