// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backends/worker/media/container_walk.h"
#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// The header of a page (RFC 3533, section 6).
struct OggPageHeader {
  uint8_t flags = 0;
  int64_t granule = -1;
  uint32_t serial = 0;
  uint32_t number = 0;  // of the page in its stream
  uint32_t checksum = 0;
  int64_t end = 0;  // the offset behind the page

  static constexpr uint8_t kFirst = 2;
  static constexpr uint8_t kLast = 4;
};

// Returns the page that begins at `offset`, or nullopt.
std::optional<OggPageHeader> ReadOggPage(FileWindow& file, int64_t offset);

// Walks the pages of Ogg. Bytes of a stream are lost where the numbers of its
// pages leave one out, and where the checksum of a page is wrong, which
// libavformat then ignores. Between the headers of a stream and its first page
// with data no number is missing: recordings of broadcasts have any number
// there. Behind the page that ends the stream there is nothing of it, unless
// pages follow that no page leads to: those may be the rest of a chain.
class OggWalk final : public ContainerWalk {
 public:
  explicit OggWalk(FileWindow file) : file_(std::move(file)) {}

  // `position` is that of the page in which the packet begins.
  bool LostUntil(int64_t position) override;
  bool LostUntilEnd() override;
  void Restart() override;

 private:
  // Takes a page of the stream. Returns true if one is lost before it.
  bool Take(const OggPageHeader& page, int64_t offset);
  // Returns whether a page begins behind `offset`.
  bool HasPageBehind(int64_t offset);
  bool HasRightChecksum(const OggPageHeader& page, int64_t offset);

  FileWindow file_;
  int64_t last_ = -1;
  int64_t next_ = 0;  // the offset of the next page; -1: unknown
  std::optional<uint32_t> serial_;
  std::optional<uint32_t> number_;  // of the last page of the stream
  bool in_headers_ = true;          // so far, and from its first page on
  bool has_ended_ = false;          // with its last page
};

}  // namespace bulkhead::worker
