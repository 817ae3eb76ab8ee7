// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/declared_frames.h"
#include "backends/worker/media/demuxer.h"

namespace bulkhead::worker {

// Packets that the container has lost before the demuxer could return them.
struct PacketGap {
  // Where their pictures would be shown, in the time base;
  // BULKHEAD_NO_TIMESTAMP if unknown.
  int64_t pts = BULKHEAD_NO_TIMESTAMP;
  int64_t duration = 0;
  // The bytes of the file that are lost, up to that of the next packet; -1 if
  // unknown.
  int64_t first_byte = -1;
  int64_t end_byte = -1;
  uint64_t packets = 1;  // an estimate
  // The number of packets that the stream should have according to its header;
  // 0 if that does not tell of this gap.
  uint64_t declared = 0;
};

// Estimates how many packets of a video stream the container has lost, and
// where they would be shown.
//
//     gaps.Sent(packet);                          // each packet,
//     gaps.SentBehindLoss(packet, from, listed);  // or this
//     for (auto& gap : gaps.Shown(pts, duration)) // each picture, in order
//
// A gap is a hole in the timestamps of the pictures, in the order of
// presentation, of more than half a frame, with lost bytes beside it
// (Demuxer::LostBefore). A hole alone is none, since frame rates vary. AVI has
// no timestamps, only frames one behind the other: there the lost bytes alone
// are a gap. The file's own index tells how many packets it had, or else their
// number.
//
// A value type, bounded in size.
class PacketGaps {
 public:
  explicit PacketGaps(const StreamFacts& facts);

  // Forgets where the stream is, for a seek.
  void Restart();

  // Takes the next packet, before which nothing is lost.
  void Sent(const bulkhead_packet& packet);
  // Takes the next packet, before which bytes of the file are lost from `from`
  // on. `listed` is Demuxer::ListedAsLost().
  void SentBehindLoss(const bulkhead_packet& packet, int64_t from,
                      std::optional<uint64_t> listed);
  // Takes the next picture, or a packet that is known to give none. Returns the
  // gaps before it.
  std::vector<PacketGap> Shown(int64_t pts, int64_t duration);
  // Returns the gap at the end of the stream, if the bytes from the last packet
  // to `end` are lost. `listed` is Demuxer::LostPacketsAtEnd(). Returns nullopt
  // if the header tells that no frame is missing.
  std::optional<PacketGap> LostAtEnd(int64_t end, uint64_t listed) const;
  // Returns the gap at the end of the stream of which only the number of frames
  // in the header tells (declared_frames.h), `end` being that of the file.
  std::optional<PacketGap> UncountedAtEnd(int64_t end,
                                          DeclaredFrames declared) const;

 private:
  // Lost bytes, before the packet with this number.
  struct Loss {
    uint64_t number = 0;
    int64_t first_byte = -1;
    int64_t end_byte = -1;
    int64_t pts = BULKHEAD_NO_TIMESTAMP;  // of that packet
    std::optional<uint64_t> listed;
  };

  // The number of packets that follow each other in a time.
  struct Pace {
    int64_t ticks = 0;  // 0: unknown
    uint64_t packets = 1;
    uint64_t Packets(int64_t time) const;
  };
  // Returns that of the packets that came.
  Pace PaceOf() const;
  // Returns how many packets are missing between the last ones.
  uint64_t SkippedAtEnd(Pace pace) const;
  PacketGap GapAtEnd(int64_t end, uint64_t packets) const;

  // Returns the duration of one frame, or 0 if unknown.
  int64_t FrameDuration(int64_t duration) const;
  // Returns the number of packets in the whole file, by the header.
  uint64_t PromisedPackets() const;
  // Returns the number of packets that fit into these bytes of the file.
  uint64_t PacketsIn(int64_t first_byte, int64_t end_byte) const;
  // Returns the loss between two packets that are shown one after the other.
  const Loss* FindLoss(uint64_t a, uint64_t b) const;

  bool counts_bytes_;   // AVI
  uint64_t reordered_;  // how far decoding and presentation may differ
  uint64_t late_;       // so many packets may have no timestamps behind a loss
  int64_t rate_duration_ = 0;  // of a frame, from the frame rate
  uint64_t frame_count_;       // according to the header; 0: unknown
  bool counts_empty_chunks_;   // that number
  int64_t promised_end_ = BULKHEAD_NO_TIMESTAMP;

  uint64_t sent_ = 0;
  uint64_t told_ = 0;  // packets in all gaps
  // Places in the file: the first and the last packet, and its end.
  int64_t first_byte_ = -1;
  int64_t last_byte_ = -1;
  int64_t end_byte_ = 0;
  int64_t lost_bytes_ = 0;               // between them
  std::map<int64_t, uint64_t> numbers_;  // of packets, by timestamp
  int64_t first_pts_ = 0;                // of the first that has one
  int64_t longest_step_ = 0;             // from one to the next
  std::deque<Loss> losses_;
  // The end of the last picture, and the number of its packet.
  std::optional<int64_t> edge_;
  uint64_t edge_number_ = 0;
  int64_t last_duration_ = 0;
  bool from_beginning_ = true;
};

}  // namespace bulkhead::worker
