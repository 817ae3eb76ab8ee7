// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

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
// where there is no element, where elements do not lead to a block that
// libavformat returned, and where a cluster does not have the size that it
// declares.
class MatroskaWalk final : public ContainerWalk {
 public:
  explicit MatroskaWalk(FileWindow file) : file_(std::move(file)) {}

  bool LostUntil(int64_t position) override;
  bool LostUntilEnd() override;
  void Restart() override;

 private:
  // Goes to the end of the block whose content is at `position`.
  void Resume(int64_t position);
  bool Walk(int64_t position);

  FileWindow file_;
  int64_t last_ = -1;  // the position of the last packet
  int64_t next_ = 0;   // the offset of the next element; -1: unknown
  int64_t cluster_end_ = INT64_MAX;
};

}  // namespace bulkhead::worker
