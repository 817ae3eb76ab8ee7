// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// The header of an EBML element (RFC 8794).
struct EbmlElement {
  uint32_t id = 0;
  int64_t size = 0;  // -1: unknown
  int64_t data = 0;  // the offset of its content
};

// Returns the element whose header is at `offset`, or nullopt if the bytes
// there are no header.
std::optional<EbmlElement> ReadEbmlElement(FileWindow& file, int64_t offset);

// Walks the elements of Matroska and WebM: every byte belongs to an element,
// and those of one block end where the next element begins. Bytes are lost
// where there is no element that can be there, where elements do not lead to a
// block that libavformat returned, where a cluster does not have the size that
// it declares, and where libavformat passed over a block: one of this track, or
// of a track that the file does not have. libavformat passes over the rest of a
// cluster behind a block whose lacing it cannot read. The number of the track
// is that of the first packet's block, since AVStream does not have it.
class MatroskaWalk final : public ContainerWalk {
 public:
  // `gives_each_block`: libavformat returns at least one packet for each block
  // of the stream that is not empty.
  explicit MatroskaWalk(FileWindow file, bool gives_each_block = true)
      : file_(std::move(file)), gives_each_block_(gives_each_block) {}

  // `position` is that of the content of a block.
  bool LostUntil(int64_t position) override;
  // The end is that of the segment, where its header tells it.
  bool LostUntilEnd() override;
  void Restart() override;

  // Returns the offset up to which the file goes at least, by the sizes of the
  // blocks and clusters that were passed.
  int64_t declared_end() const {
    return cluster_end_ == INT64_MAX ? next_ : std::max(next_, cluster_end_);
  }
  // Returns whether the block is the first one of a cluster, whose header tells
  // its time. A block within damage can have any time.
  bool BeginsCluster(int64_t position);

 private:
  // Goes to the end of the block whose content is at `position`.
  void Resume(int64_t position);
  // Goes on to the block whose content is at `position`. Returns false if the
  // elements do not lead there.
  bool Walk(int64_t position);
  // Records that bytes are lost at `offset`, if none were before.
  void Break(int64_t offset, bool is_torn);
  // Returns the number of the track of the block whose content is there.
  std::optional<uint64_t> TrackOf(int64_t position);
  // Returns the element at `next_` if it can be there.
  std::optional<EbmlElement> Next();
  // Goes behind its header, if elements are in it that are looked at, or behind
  // the element. Returns false if it leads nowhere.
  bool Pass(const EbmlElement& element);
  // Returns whether libavformat should not have passed over this block.
  bool IsMissed(const EbmlElement& block);
  void LearnTracks(const EbmlElement& tracks);

  FileWindow file_;
  bool gives_each_block_;
  std::optional<uint64_t> track_;  // the number of the stream's blocks
  std::vector<uint64_t> tracks_;   // all that the file has; empty: unknown
  int64_t segment_end_ = 0;        // 0: unknown
  int64_t last_ = -1;              // the position of the last packet
  int64_t next_ = 0;  // the offset of the next element; -1: unknown
  int64_t cluster_end_ = INT64_MAX;
};

}  // namespace bulkhead::worker
