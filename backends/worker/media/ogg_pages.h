// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// The bytes of one packet that are on one page of Ogg.
struct OggPart {
  size_t bytes = 0;
  std::array<uint8_t, 72> start{};  // the first of them; zeros behind the end
  bool ends = false;                // the packet does not go on on another page
};

// A page of Ogg (RFC 3533, section 6), which is whole: its checksum is right,
// or the page is that of OggPages::torn().
struct OggPage {
  int64_t offset = 0;  // in the file
  int64_t end = 0;     // the offset behind it
  bool continues = false;
  bool begins_stream = false;
  bool ends_stream = false;
  std::optional<int64_t> granule;  // of the last packet that ends here
  uint32_t serial = 0;
  uint32_t sequence = 0;
  int64_t stray_bytes = 0;  // before the page, that belong to no whole page
  std::vector<OggPart> parts;
};

// Reads the pages of an Ogg file in the order of the file, and passes over
// bytes that belong to no page, as libavformat does. libavformat does not tell
// what it has passed over.
//
// The file is hostile. Needs 256 KiB of memory. A value type, which borrows the
// file. Used by one thread.
class OggPages {
 public:
  OggPages(MediaBytes file, int64_t offset) : file_(file), at_(offset) {}

  // Reads the next page that begins before the offset `limit`. Returns nullopt
  // if there is none; then a later call with a higher limit goes on.
  std::optional<OggPage> Next(int64_t limit);

  // Returns the last page that was passed over since the last whole one: its
  // header is there, but its checksum is wrong or its end is missing.
  const std::optional<OggPage>& torn() const { return torn_; }
  // Returns the number of bytes passed over since the last whole page.
  int64_t stray_bytes() const { return stray_; }
  // Returns the offset of the next byte to look at.
  int64_t offset() const { return at_; }

 private:
  // Returns up to `count` bytes of the file from `offset` on.
  std::span<const uint8_t> At(int64_t offset, size_t count);
  // Moves on to the next bytes that could be a page. Returns false if there are
  // none before `limit`.
  bool FindPage(int64_t limit);

  MediaBytes file_;
  int64_t at_;
  int64_t stray_ = 0;
  std::optional<OggPage> torn_;
  std::vector<uint8_t> window_;
  int64_t window_begin_ = 0;
  bool is_last_window_ = false;  // the file has no bytes behind it
};

}  // namespace bulkhead::worker
