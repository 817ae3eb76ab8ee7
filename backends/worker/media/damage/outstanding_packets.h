// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ipc/loss.h"

namespace bulkhead::worker::damage {

using ipc::Loss;

// Finds lost pictures: matches the pictures that a decoder gives with the
// packets that it got. Decoders silently drop packets that they cannot use,
// such as packets before the first keyframe, or packets that refer to a lost
// picture. Comparing packets with pictures is the only way to notice. The
// comparison also finds pictures that belong to no packet.
//
//     outstanding.Sent(pts, duration, position);  // packets with a picture
//     outstanding.SentWithout(pts, true);         // other packets
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
  // Records that the decoder drops the picture of a packet by design, which is
  // no loss. Call this before a later picture comes out, which would make the
  // packet count as lost.
  void Dropped(int64_t pts);
  // Records that a packet was sent for which no picture is shown. `discarded`
  // says that it has a picture that must not be output
  // (BULKHEAD_PACKET_DISCARD).
  void SentWithout(int64_t pts, bool discarded);
  // From now on only counts packets and pictures. Call this once timestamps
  // have contradicted the order of the pictures.
  void OnlyCount();
  // Returns whether packets are matched by their timestamps.
  bool timed() const { return timed_; }

  // The packet to which a picture belongs.
  enum class Origin {
    kPacket,     // a packet that had no picture yet, or an unknown packet
    kTooLate,    // a packet whose picture came out before
    kDiscarded,  // a packet whose picture must not be output
    kNone,       // no packet has this timestamp, though all packets have one
    kLost,       // a packet that was reported as lost
  };
  // A picture that came out. A picture of origin kTooLate must be dropped:
  // damaged headers can delay a picture, or make two pictures of one packet.
  // `ffmpeg -fps_mode vfr` drops such pictures, too.
  struct Picture {
    Origin origin = Origin::kPacket;
    int64_t position = -1;     // byte offset of its packet; -1 if unknown
    std::vector<Loss> losses;  // the packets that are now known to be lost
  };
  // Records that a picture came out.
  Picture Shown(int64_t pts);
  // Returns whether the packet with this timestamp was reported as lost. A
  // picture may come for it all the same.
  bool IsLost(int64_t pts) const { return OriginOf(pts) == Origin::kLost; }
  // Returns the packets whose pictures are still missing after the decoder has
  // given its last picture.
  std::vector<Loss> Ended();

 private:
  struct Packet {
    int64_t duration;
    int64_t position;
  };

  // Adds a packet to earlier_.
  void Remember(int64_t pts, Origin origin);
  // Records the position of a packet, for losses that can only be counted.
  void Note(int64_t position);
  // Returns the origin of a picture with this timestamp if no packet with the
  // timestamp waits.
  Origin OriginOf(int64_t pts) const;

  // The packets whose pictures have not come out, by timestamp.
  std::map<int64_t, Packet> waiting_;
  // Maps the timestamp of a packet that no longer waits to the origin that a
  // further picture with this timestamp would have. The smallest timestamps are
  // forgotten first.
  std::map<int64_t, Origin> earlier_;
  int64_t entry_ = INT64_MIN;  // the argument of Restart
  int64_t shown_ = INT64_MIN;  // the timestamp of the last picture
  bool lossy_ = false;         // a packet was lost
  bool timed_ = true;
  // If not timed_: the number of packets whose pictures have not come out. They
  // lie between first_position_ and last_position_, two byte offsets of packets
  // (-1 if unknown).
  int64_t uncounted_ = 0;
  int64_t first_position_ = -1;
  int64_t last_position_ = -1;
};

}  // namespace bulkhead::worker::damage
