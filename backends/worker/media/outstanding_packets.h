// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace bulkhead::worker {

// Packets that were sent to a decoder and yielded no picture.
struct Loss {
  int64_t pts;       // NO_TIMESTAMP if the packets are not known
  int64_t duration;  // 0 if unknown
  int64_t position;  // the byte offset in the file, -1 if unknown
  uint64_t packets;  // 1 if pts is known
};

// Finds the packets that a decoder dropped. Decoders silently drop what they
// cannot use, such as pictures before the first keyframe, or pictures that
// refer to a lost one; comparing packets with pictures is the only way to
// notice.
//
//     outstanding.Sent(pts, duration, position);  // each that shows a picture
//     for (const Loss& loss : outstanding.Shown(frame_pts, &at)) Report(loss);
//     for (const Loss& loss : outstanding.Ended()) Report(loss);
//
// Pictures come out in the order of their timestamps, so a packet is lost once
// a later picture comes out. If timestamps are missing, repeated or out of
// order, only the number of lost packets can be reported, at the end. A value
// type.
class OutstandingPackets {
 public:
  // Starts again after a seek to a keyframe with timestamp `entry`. Pictures
  // before `entry` do not count, since the decoder rightly drops those that
  // refer to packets before the keyframe.
  void Restart(int64_t entry);

  // Records that a packet was sent.
  void Sent(int64_t pts, int64_t duration, int64_t position);
  // Only counts packets from now on, because the timestamps give no order.
  void OnlyCount();

  // Records that a picture came out, and returns the packets found to be lost.
  // Sets `*position` to the position of the picture's packet.
  std::vector<Loss> Shown(int64_t pts, int64_t* position);
  // Returns the packets that are lost after the last picture has come out.
  std::vector<Loss> Ended();

 private:
  struct Packet {
    int64_t duration;
    int64_t position;
  };

  std::map<int64_t, Packet> waiting_;  // by timestamp
  int64_t entry_ = INT64_MIN;
  bool timed_ = true;
  int64_t uncounted_ = 0;  // the number sent and not shown, if not timed_
};

}  // namespace bulkhead::worker
