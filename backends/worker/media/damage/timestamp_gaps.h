// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace bulkhead::worker::damage {

// Finds gaps in the timestamps of pictures, as they appear if whole packets
// were removed from a container. A gap is reported as a note and not as an
// error, since recorders leave out frames, too.
//
//     TimestampGaps gaps(video_delay);
//     if (const auto packet = gaps.Sent({pts, position})) ...  // each picture
//     while (const auto packet = gaps.Ended()) ...
//
// A gap is a step between timestamps that is at least twice as long as the
// steps around it, most of which must be equal. So streams of variable frame
// rate have hardly any gaps. A value type.
class TimestampGaps {
 public:
  struct Packet {
    int64_t pts;
    int64_t position;
  };

  // `reordered` is the reorder delay in pictures (StreamFacts::video_delay).
  explicit TimestampGaps(size_t reordered) : reordered_(reordered) {}

  // Must be called before the first packet after a seek.
  void Restart();
  // Records the next packet, in decoding order. Returns the first packet after
  // a gap, once no packet can fall into the gap any more and enough steps after
  // it are known.
  std::optional<Packet> Sent(const Packet& packet);
  // Returns the first packet after each remaining gap, one in each call, then
  // nullopt. Call this at the end of the stream.
  std::optional<Packet> Ended();

 private:
  struct Step {
    int64_t ticks;
    Packet to;
    bool told = false;  // reported as a gap
  };

  // Moves the earliest packet of waiting_ to the steps.
  void TakeFirst();
  // Returns the first gap among the last steps that was not reported yet.
  std::optional<Packet> FindGap();

  size_t reordered_;
  std::vector<Packet> waiting_;  // in descending order of time
  std::optional<int64_t> last_;  // the timestamp of the last packet taken
  std::deque<Step> steps_;       // the last few steps, in order of time
};

}  // namespace bulkhead::worker::damage
