// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/ogg_durations.h"
#include "backends/worker/media/ogg_pages.h"

namespace bulkhead::worker {

// A packet of an audio stream in Ogg.
struct OggPacket {
  int64_t position =
      0;  // of the page on which it begins, as libavformat has it
  size_t bytes = 0;
  int64_t duration = 0;
  // The granule at which its samples end; nullopt if nothing tells.
  std::optional<int64_t> end;
  bool starts_stream = false;   // the first packet behind the headers
  bool follows_hole = false;    // pages are missing before it
  int64_t hole = -1;            // then: the offset at which they begin
  bool end_is_trimmed = false;  // by a number of samples that nothing tells
  // The granule at which the stream begins, if pages are missing at its start.
  std::optional<int64_t> stream_start;
  bool start_is_guessed = false;
};

// Where the last page of a stream says that its samples end.
struct OggEnd {
  std::optional<int64_t> granule;
  bool is_sure = false;     // the page is whole, and says that it is the last
  bool is_broken = false;   // the pages end with bytes that are no whole page
  int64_t stray_bytes = 0;  // those of which no page tells how long they last
};

// Tells when the packets of an audio stream in Ogg are due, and where pages are
// missing. The granule of a page is the time at which its last packet ends, so
// that the pages behind a hole tell exactly where they belong. libavformat
// passes over a damaged page without a word, has it take effect a page later,
// and takes the first page that it meets for the start of the stream.
//
// At the start, a missing page looks like a recording of a broadcast, which has
// its headers from elsewhere. It counts as damage if there are bytes that are
// no page, and if the pages that are missing, by their numbers, could have held
// what the granules say.
//
// The file is hostile: granules, numbers and sizes are any. A value type, which
// borrows the demuxer. Used by one thread.
class OggTiming {
 public:
  explicit OggTiming(const Demuxer& demuxer);

  // Returns whether the container is Ogg and the codec is known here.
  bool is_known() const { return is_known_; }
  // Returns what there is to tell of the packet that libavformat has read.
  // Packets are asked for in their order. Returns nullopt if the pages of the
  // file do not have this packet.
  std::optional<OggPacket> Find(const bulkhead_packet& packet);
  // Reads the rest of the file.
  OggEnd Finish();
  // Returns the time of `granule` in ticks of the stream.
  int64_t TicksOf(int64_t granule) const {
    return granule - durations_.preskip();
  }

 private:
  void Restart(const OggPage& page);
  // Takes apart the next page of the stream. Returns false if there is none
  // before `limit`.
  bool TakePage(int64_t limit);
  void Assemble(const OggPage& page);
  void SetEnds(const OggPage& page, size_t first);
  void SetStart(const OggPage& page, int64_t sum, OggPacket* packet) const;

  bool is_known_;
  MediaBytes bytes_;
  int64_t size_;
  bool alone_;  // the container has no other stream
  OggDurations durations_;
  OggPages pages_;

  std::optional<uint32_t> serial_;
  std::optional<uint32_t> sequence_;  // of the last page
  std::optional<int64_t> granule_;    // the last one
  int64_t end_ = 0;                   // the offset behind it
  bool has_sound_ = false;            // its last page had sound
  bool is_at_end_ = false;            // it was the stream's last
  int64_t stray_bytes_ = 0;           // since then
  bool jumps_ = false;  // pages are missing since the last packet that ended
  int64_t hole_ = -1;   // the offset at which they begin
  int64_t lost_pages_ = 0;  // that many, if the numbers of pages are right
  std::deque<OggPacket> packets_;  // that were not asked for yet
  // A packet that began on an earlier page.
  std::optional<OggPacket> begun_;
  OggPart begun_part_;
  int64_t page_offset_ = -1;
};

}  // namespace bulkhead::worker
