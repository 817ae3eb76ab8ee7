// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// Follows the structure of a container from packet to packet of one stream, and
// tells where bytes are lost: libavformat skips what it cannot read, and
// returns the next packet that it can as if nothing had been there.
//
//     auto walk = ContainerWalk::Of("matroska,webm", stream_id, bytes, size);
//     for each packet of the stream: walk->LostUntil(packet.position)
//
// An intact file never shows a loss, whatever its timestamps are, and whatever
// stands behind its end. Each kind has its own sign:
//
// - Matroska, WebM: elements that lead from one block exactly to the next
//   (matroska_walk.h);
// - Ogg: the numbers and checksums of the stream's pages (ogg_walk.h);
// - MPEG-TS: the continuity counters of the stream's packets
//   (transport_walk.h);
// - AVI, FLV: chunks and tags that lead exactly to the next, and tags that a
//   file lacks which is smaller than its header tells (chunk_walk.h);
// - ASF: packets of one length, and payloads that make up whole objects
//   (asf_walk.h);
// - fragmented MP4: the boxes, and the numbers and times of the fragments
//   (fragment_walk.h);
// - raw DV, YUV4MPEG2: frames of one size, each with a header (frame_walk.h).
//
// In other containers nothing is known. Other MP4 lists its packets in one
// place.
//
// The file is hostile. Every byte is read at most a few times, so a walk is
// linear in the size of the file. Used by one thread.
class ContainerWalk {
 public:
  // Returns null for a container of which nothing is known. `container` is the
  // name of libavformat's demuxer, `stream_id` AVStream::id. `declared` is
  // the size of the file according to its headers (declared_size.h), 0 if they
  // do not tell.
  static std::unique_ptr<ContainerWalk> Of(std::string_view container,
                                           int stream_id, MediaBytes bytes,
                                           int64_t size, int64_t declared = 0);
  virtual ~ContainerWalk() = default;

  // Goes on to the packet of the stream at `position`. Returns true if bytes of
  // the stream are lost between the packet before and this one, or before the
  // first packet of the file. Packets may share a position; an unknown position
  // (-1) says nothing.
  virtual bool LostUntil(int64_t position) = 0;

  // Returns whether bytes before the first packet of the stream, which is at
  // `position`, look damaged. Nothing may have been asked before.
  virtual bool DoubtsStart(int64_t /*position*/) { return false; }

  // Goes on to the end of the file. Returns true if bytes of the stream are
  // lost behind the last packet.
  virtual bool LostUntilEnd() = 0;

  // Returns the offset at which the structure broke off, after one of the above
  // has returned true.
  int64_t broken_at() const { return broken_at_; }
  // Returns whether they may begin inside the packet before.
  bool is_torn() const { return is_torn_; }
  // Returns whether LostUntilEnd() has found bytes inside the file that lead
  // nowhere, so that the file does not just lack its end.
  bool breaks_inside() const { return breaks_inside_; }
  // Returns how many packets LostUntilEnd() has found lost; 0 if unknown.
  uint64_t lost_packets() const { return lost_packets_; }

  // Returns whether LostUntilEnd() has found all packets of the stream, though
  // the file is cut off behind them.
  bool is_whole() const { return is_whole_; }

  // Forgets the place: the next packet may be any.
  virtual void Restart() = 0;

 protected:
  int64_t broken_at_ = -1;
  bool is_torn_ = true;
  bool breaks_inside_ = false;
  uint64_t lost_packets_ = 0;
  bool is_whole_ = false;
};

}  // namespace bulkhead::worker
