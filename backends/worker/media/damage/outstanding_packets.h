// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ipc/loss.h"

namespace bulkhead::worker {

using ipc::Loss;

// Matches the pictures that a decoder gives with the packets that it got.
// Decoders silently drop what they cannot use, such as pictures before the
// first keyframe, or pictures that refer to a lost one; comparing packets with
// pictures is the only way to notice. It also finds pictures that no packet
// accounts for.
//
//     outstanding.Sent(pts, duration, position);  // each that shows a picture
//     outstanding.SentWithout(pts, true);         // each other packet
//     const auto shown = outstanding.Shown(frame_pts);
//     for (const Loss& loss : shown.losses) Report(loss);
//     for (const Loss& loss : outstanding.Ended()) Report(loss);
//
// Pictures come out in the order of their timestamps, so a packet is lost once
// a later picture comes out. If timestamps are missing, repeated or out of
// order, only the number of lost packets can be reported, at the end. The
// timestamps of the last few thousand packets are remembered. A value type.
class OutstandingPackets {
 public:
  // Starts again after a seek to a keyframe with timestamp `entry`. Pictures
  // before `entry` do not count, since the decoder rightly drops those that
  // refer to packets before the keyframe.
  void Restart(int64_t entry);

  // Records that a packet was sent that shows a picture.
  void Sent(int64_t pts, int64_t duration, int64_t position);
  // Records that the decoder drops the picture of a packet that was sent, and
  // that no other picture has come out since.
  void Dropped(int64_t pts);
  // Records that a packet was sent that shows none. `discarded` says that its
  // picture is not to be output (BULKHEAD_PACKET_DISCARD).
  void SentWithout(int64_t pts, bool discarded);
  // Only counts packets from now on, because the timestamps give no order.
  void OnlyCount();
  // Returns whether packets are matched by their timestamps.
  bool timed() const { return timed_; }

  enum class Origin {
    kPacket,     // a packet that had no picture yet, or that is not known
    kTooLate,    // a packet whose picture came out
    kDiscarded,  // a packet whose picture is not to be output
    kNone,       // no packet has this timestamp, though all packets have one
    kLost,       // a packet that was reported as lost
  };
  // A picture that comes too late has no place any more. Damaged headers move
  // pictures after others, or make two of one packet; `ffmpeg -fps_mode vfr`
  // drops such pictures too.
  struct Picture {
    Origin origin = Origin::kPacket;
    int64_t position = -1;     // of its packet in the file; -1 if unknown
    std::vector<Loss> losses;  // the packets that are now known to be lost
  };
  // Records that a picture came out.
  Picture Shown(int64_t pts);
  // Returns whether the packet with this timestamp was reported as lost, though
  // a picture for it comes now.
  bool IsLost(int64_t pts) const { return OriginOf(pts) == Origin::kLost; }
  // Returns the packets that are lost after the last picture has come out.
  std::vector<Loss> Ended();

 private:
  struct Packet {
    int64_t duration;
    int64_t position;
  };

  void Remember(int64_t pts, Origin origin);
  void Note(int64_t position);
  Origin OriginOf(int64_t pts) const;

  std::map<int64_t, Packet> waiting_;  // by timestamp
  // Maps the timestamp of an earlier packet to the origin that another picture
  // with that timestamp would have. The smallest timestamps are forgotten
  // first.
  std::map<int64_t, Origin> earlier_;
  int64_t entry_ = INT64_MIN;
  int64_t shown_ = INT64_MIN;  // the timestamp of the last picture
  bool lossy_ = false;         // a packet was lost
  bool timed_ = true;
  int64_t uncounted_ = 0;  // the number sent and not shown, if not timed_
  // If not timed_, the places of the first packet that may be among them, and
  // of the last packet.
  int64_t first_position_ = -1;
  int64_t last_position_ = -1;
};

}  // namespace bulkhead::worker
