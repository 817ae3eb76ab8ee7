// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/asf_walk.h"
#include "backends/worker/media/avi_index.h"
#include "backends/worker/media/chunk_walk.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/file_window.h"
#include "backends/worker/media/fragment_walk.h"
#include "backends/worker/media/matroska_walk.h"
#include "backends/worker/media/transport_walk.h"

namespace bulkhead::worker {

// Tells an AudioTimeline where the container has lost bytes of the stream, by
// the walks that video uses too (container_walk.h): Matroska, FLV, AVI, ASF,
// fragmented MP4 and transport streams.
//
// AVI has no timestamps: libavformat counts the chunks that it has read. Where
// bytes are lost, the file's index tells which chunk is the next one, or else
// the number of lost bytes is an estimate of it.
//
// A value type: a copy continues from the same place. Used by one thread.
class AudioWalk {
 public:
  explicit AudioWalk(const Demuxer& demuxer);

  bool is_known() const { return walk() != nullptr; }
  // Takes the next packet of the stream. Returns true if bytes are lost before
  // it, so that a gap in the timestamps there is damage.
  bool LostBefore(const bulkhead_packet& packet);
  // Returns whether bytes behind the packet that was taken last show that some
  // before it are lost. Call this where its timestamp jumps.
  bool ShowsLossBehind();
  // Takes the end of the stream. Returns true if bytes are lost behind the last
  // packet, and if packets of the stream came until then.
  bool LostAtEnd();
  // Returns how many bytes the file lacks at least, after that, by the size of
  // what goes beyond its end; 0 if nothing tells.
  int64_t torn_bytes() const;
  // Returns how many packets are lost there, if fragments of MP4 list them.
  uint64_t lost_packets() const;
  // Returns whether only the fragments of MP4 tell where the stream ends.
  bool is_fragmented() const {
    return std::holds_alternative<FragmentWalk>(walk_);
  }
  // Returns the offset from which on they are lost.
  int64_t lost_from() const { return walk()->broken_at(); }
  // Returns how much later the packet that was taken last is than its timestamp
  // says, in ticks of the stream.
  int64_t delay() const { return delay_; }
  // Returns whether the time of that packet is sure, though bytes are lost
  // before it.
  bool has_sure_time();
  // Returns the time at which the stream ends, if the file's index tells it.
  std::optional<int64_t> listed_end() const;

 private:
  ContainerWalk* walk() const;
  bool LostInTransport(TransportWalk& walk, const bulkhead_packet& packet);
  // Takes the time of a tag of FLV from its header.
  void ReadTime(const bulkhead_packet& packet, bool is_lost);
  bool LostBeforeChunk(const bulkhead_packet& packet, bool is_lost);
  void ReadIndex(const bulkhead_packet& packet);
  // Adds the packets that bytes before `packet` had, by the mean of all before.
  void GuessDelay(const bulkhead_packet& packet);

  mutable std::variant<std::monostate, MatroskaWalk, AviWalk, FlvWalk, AsfWalk,
                       TransportWalk, FragmentWalk>
      walk_;
  FileWindow file_;
  int64_t declared_;
  int stream_;
  int64_t position_ = -1;  // of the last packet
  // The file has fewer bytes than its headers tell, and nothing tells where.
  bool is_shorter_;
  bool alone_;                // the container has no other stream
  int64_t most_between_ = 0;  // bytes from one packet to the next

  // Transport streams: before the last packet bytes were lost. The first
  // timestamp behind them can be too early, so that the gap comes in two parts.
  bool was_lost_ = false;

  // FLV: the timestamp of the last packet minus that of its tag.
  int64_t offset_ = 0;

  // AVI.
  int64_t duration_;  // according to the header
  bool has_read_index_ = false;
  std::optional<AviIndex> index_;
  bool is_behind_loss_ = false;  // and nothing has told how much is lost
  bool is_guessed_ = false, has_guessed_ = false;  // the last loss, any loss
  int64_t delay_ = 0;
  int64_t first_position_ = -1, packets_ = 0;
  int64_t last_pts_ = BULKHEAD_NO_TIMESTAMP;  // of the packet at position_
};

}  // namespace bulkhead::worker
