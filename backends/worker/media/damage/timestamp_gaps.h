// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace bulkhead::worker {

// Finds where packets of pictures are missing between the timestamps of others,
// as in a container from which whole packets were taken out. That is a note and
// no error: recorders leave out frames too.
//
//     TimestampGaps gaps(video_delay);
//     if (const auto packet = gaps.Sent({pts, position})) ...  // each picture
//     while (const auto packet = gaps.Ended()) ...
//
// A gap is a step of two or more of the steps around it, most of which are the
// same. So streams of variable rate have hardly any. A value type.
class TimestampGaps {
 public:
  struct Packet {
    int64_t pts;
    int64_t position;
  };

  // `reordered`: by how many pictures the orders of decoding and showing may
  // differ.
  explicit TimestampGaps(size_t reordered) : reordered_(reordered) {}

  // Must be called before the first packet after a seek.
  void Restart();
  // Records a packet in decoding order. Returns the first packet after a gap,
  // once it is known that no other comes between, and which steps are regular.
  std::optional<Packet> Sent(const Packet& packet);
  // Returns the same of the packets that are left, one gap in each call.
  std::optional<Packet> Ended();

 private:
  struct Step {
    int64_t ticks;
    Packet to;
    bool told = false;
  };

  void TakeFirst();
  // Returns the first gap among the last steps that was not reported yet.
  std::optional<Packet> FindGap();

  size_t reordered_;
  std::vector<Packet> waiting_;  // in descending order of time
  std::optional<int64_t> last_;
  std::deque<Step> steps_;  // the last ones, each a regular one or a gap
};

}  // namespace bulkhead::worker
