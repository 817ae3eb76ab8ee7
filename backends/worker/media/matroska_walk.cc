// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/matroska_walk.h"

#include <algorithm>
#include <iterator>

namespace bulkhead::worker {
namespace {

constexpr uint32_t kEbml = 0x1A45DFA3;
constexpr uint32_t kSegment = 0x18538067;
constexpr uint32_t kCluster = 0x1F43B675;
constexpr uint32_t kBlockGroup = 0xA0;
constexpr uint32_t kBlock = 0xA1;
constexpr uint32_t kSimpleBlock = 0xA3;
constexpr uint32_t kTracks = 0x1654AE6B;
constexpr uint32_t kTrackEntry = 0xAE;
constexpr uint32_t kTrackNumber = 0xD7;
// The others that can be in a cluster, or in a group of blocks.
constexpr uint32_t kInClusters[] = {
    0xEC, 0xBF, 0xE7, 0xA7, 0xAB,   0x5854, 0xAF, 0x9B, 0xFB,
    0xFD, 0xFA, 0xA4, 0xA2, 0x75A2, 0x75A1, 0x8E, 0xC8,
};
// A block begins with the number of its track, a time and flags.
constexpr int64_t kEmptyBlock = 4;
// The elements before the first block of a cluster are shorter.
constexpr int64_t kClusterHeadBytes = 128;
// The number of an element has up to 4 bytes, its size up to 8.
constexpr int64_t kMostHeaderBytes = 12;
constexpr int kMostTrackElements = 1 << 16;

// Elements that are beside clusters, never in one.
bool IsOutsideClusters(uint32_t id) {
  switch (id) {
    case kEbml:
    case kSegment:
    case kCluster:
    case 0x114D9B74:  // SeekHead
    case 0x1549A966:  // Info
    case kTracks:
    case 0x1C53BB6B:  // Cues
    case 0x1941A469:  // Attachments
    case 0x1043A770:  // Chapters
    case 0x1254C367:  // Tags
      return true;
    default:
      return false;
  }
}

bool IsBlock(const EbmlElement& element) {
  return element.id == kBlock || element.id == kSimpleBlock;
}

bool HasBlocks(const EbmlElement& element) {
  return element.id == kSegment || element.id == kCluster ||
         element.id == kBlockGroup;
}

// Returns the number of bytes of the number that begins with `first`: 9 if
// there is no such number.
size_t LengthOf(uint8_t first) {
  return first == 0 ? 9 : static_cast<size_t>(__builtin_clz(first) - 23);
}

}  // namespace

std::optional<EbmlElement> ReadEbmlElement(FileWindow& file, int64_t offset) {
  const auto bytes = file.At(offset, kMostHeaderBytes);
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
  if (!track_) track_ = TrackOf(position);
  broken_at_ = -1;
  if (!forward || next_ < 0) {
    Resume(position);
  } else if (!Walk(position)) {
    Break(std::min(next_, position), /*is_torn=*/true);
    Resume(position);
  }
  return broken_at_ >= 0;
}

void MatroskaWalk::Break(int64_t offset, bool is_torn) {
  if (broken_at_ >= 0) return;
  broken_at_ = offset;
  is_torn_ = is_torn;
}

std::optional<EbmlElement> MatroskaWalk::Next() {
  const auto element = ReadEbmlElement(file_, next_);
  if (!element) return std::nullopt;
  const bool is_known =
      IsBlock(*element) || HasBlocks(*element) ||
      IsOutsideClusters(element->id) ||
      std::find(std::begin(kInClusters), std::end(kInClusters), element->id) !=
          std::end(kInClusters);
  return is_known ? element : std::nullopt;
}

bool MatroskaWalk::Pass(const EbmlElement& element) {
  if (next_ >= cluster_end_) cluster_end_ = INT64_MAX;
  if (IsOutsideClusters(element.id)) {
    // Whole blocks were cut out of the cluster before.
    if (cluster_end_ != INT64_MAX) Break(next_, /*is_torn=*/true);
    cluster_end_ = INT64_MAX;
  }
  if (element.id == kSegment && element.size >= 0) {
    segment_end_ = element.data + element.size;
  }
  if (element.id == kCluster && element.size >= 0) {
    cluster_end_ = element.data + element.size;
  }
  if (element.id == kTracks) LearnTracks(element);
  if (HasBlocks(element)) {
    next_ = element.data;
    return true;
  }
  if (element.size < 0 || element.data + element.size > cluster_end_) {
    return false;
  }
  next_ = element.data + element.size;
  return true;
}

bool MatroskaWalk::Walk(int64_t position) {
  while (next_ < position) {
    const auto element = Next();
    if (!element || element->data > position) return false;
    const bool is_here = IsBlock(*element) && element->data == position;
    if (!is_here && !HasBlocks(*element) &&
        (element->size < 0 || element->data + element->size > position)) {
      return false;
    }
    if (!is_here && IsBlock(*element) && IsMissed(*element)) {
      Break(next_, /*is_torn=*/false);
    }
    if (!Pass(*element)) return false;
    if (is_here) return true;
  }
  return false;
}

std::optional<uint64_t> MatroskaWalk::TrackOf(int64_t position) {
  const auto bytes = file_.At(position, 8);
  const size_t length = bytes.empty() ? 9 : LengthOf(bytes[0]);
  if (length > bytes.size()) return std::nullopt;
  uint64_t number = bytes[0] & (0xffU >> length);
  for (size_t i = 1; i < length; ++i) number = number << 8 | bytes[i];
  return number;
}

bool MatroskaWalk::IsMissed(const EbmlElement& block) {
  if (block.size <= kEmptyBlock) return false;
  const auto number = TrackOf(block.data);
  if (!number) return true;
  if (number == track_) return gives_each_block_;
  return !tracks_.empty() &&
         std::find(tracks_.begin(), tracks_.end(), *number) == tracks_.end();
}

void MatroskaWalk::LearnTracks(const EbmlElement& tracks) {
  tracks_.clear();
  const int64_t end = tracks.data + tracks.size;
  int64_t at = tracks.data;
  for (int i = 0; i < kMostTrackElements && at < end; ++i) {
    const auto element = ReadEbmlElement(file_, at);
    if (!element || element->size < 0) break;
    at = element->id == kTrackEntry ? element->data
                                    : element->data + element->size;
    if (element->id != kTrackNumber || element->size > 8) continue;
    uint64_t number = 0;
    for (const uint8_t byte :
         file_.At(element->data, static_cast<size_t>(element->size))) {
      number = number << 8 | byte;
    }
    tracks_.push_back(number);
  }
  // Damaged, or of another kind.
  if (at != end ||
      std::find(tracks_.begin(), tracks_.end(), track_) == tracks_.end()) {
    tracks_.clear();
  }
}

bool MatroskaWalk::LostUntilEnd() {
  if (next_ < 0) return false;
  const int64_t end = segment_end_ > 0 ? segment_end_ : file_.size();
  const bool is_cut_off = end > file_.size();
  const int64_t from = next_;
  broken_at_ = -1;
  while (next_ < std::min(end, file_.size())) {
    const auto element = Next();
    if (element && IsBlock(*element) && IsMissed(*element)) {
      Break(next_, /*is_torn=*/false);
    }
    if (!element || !Pass(*element)) {
      breaks_inside_ = next_ + kMostHeaderBytes <= file_.size();
      Break(is_cut_off ? from : next_, /*is_torn=*/true);
      return true;
    }
  }
  const bool cluster_goes_on =
      cluster_end_ != INT64_MAX && next_ < cluster_end_;
  if (is_cut_off) Break(from, /*is_torn=*/true);
  if (next_ > end || cluster_goes_on) Break(next_, /*is_torn=*/true);
  return broken_at_ >= 0;
}

bool MatroskaWalk::BeginsCluster(int64_t position) {
  for (int64_t at = std::max<int64_t>(position - kClusterHeadBytes, 0);
       at < position; ++at) {
    const auto cluster = ReadEbmlElement(file_, at);
    if (!cluster || cluster->id != kCluster) continue;
    MatroskaWalk walk(file_, gives_each_block_);
    walk.track_ = track_;
    walk.next_ = at;
    if (walk.Walk(position) && walk.broken_at() < 0) return true;
  }
  return false;
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
