// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace bulkhead::worker {

// Packets that were decoded and yielded no picture.
struct Loss {
  int64_t pts;       // BULKHEAD_NO_TIMESTAMP: it is not known which they are
  int64_t duration;  // 0: unknown
  int64_t position;  // byte in the file, -1: unknown
  uint64_t packets;  // 1 where pts is told
};

// Tells which packets a decoder kept to itself: the only way to notice, since
// decoders drop what they cannot use (pictures before the first keyframe, or
// that refer to a lost one) without a word.
//
//     outstanding.Sent(pts, duration, position);  // each that shows something
//     for (const Loss& loss : outstanding.Shown(frame_pts, &at)) Report(loss);
//     for (const Loss& loss : outstanding.Ended()) Report(loss);
//
// Pictures come out in the order of their timestamps, so a packet is lost when
// a later picture comes out. Where timestamps are missing, repeated or out of
// order only the number can be told, at the end. Value type.
class OutstandingPackets {
 public:
  // After a seek: of the pictures before `entry` (the keyframe's timestamp) the
  // decoder rightly drops those that refer to what was not read.
  void Restart(int64_t entry);

  void Sent(int64_t pts, int64_t duration, int64_t position);
  // What was sent tells no order: only count, from now on.
  void OnlyCount();

  // A picture came out. `position` is that of its packet.
  std::vector<Loss> Shown(int64_t pts, int64_t* position);
  // The last picture came out.
  std::vector<Loss> Ended();

 private:
  struct Packet {
    int64_t duration;
    int64_t position;
  };

  std::map<int64_t, Packet> waiting_;  // by timestamp
  int64_t entry_ = INT64_MIN;
  bool timed_ = true;
  int64_t uncounted_ = 0;  // sent and not shown, where timed_ is false
};

}  // namespace bulkhead::worker
