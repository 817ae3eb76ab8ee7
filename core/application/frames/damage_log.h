// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/include/bulkhead/video_decoder.h"

namespace bulkhead::session {

// A frame that is missing or damaged, as a worker told of it.
struct Damage {
  std::optional<uint64_t> frame;  // nullopt: it is not known which
  int64_t pts = 0;                // only with `frame`
  int64_t duration = 0;           // 0: unknown
  int64_t position = -1;          // byte in the file, -1: unknown
  uint64_t frames = 1;            // more than 1 only without `frame`
};

// What was found damaged of a stream, however often it was come across: frames
// that follow each other become one range.
//
// Bounded: beyond kMostRanges the range before takes in what comes after it.
// Value type.
class DamageLog {
 public:
  static constexpr size_t kMostRanges = 1000;

  void Add(const Damage& damage);
  // Whether one of these frames, `last` included, is damaged.
  bool Has(uint64_t first, uint64_t last) const;
  // By frame number; behind them, one range of what has no known place.
  std::vector<DamagedRange> Ranges(double seconds_per_unit) const;

 private:
  struct Range {
    uint64_t last = 0;
    uint64_t frames = 0;
    int64_t begin_pts = 0;
    int64_t end_pts = INT64_MIN;
    int64_t first_byte = -1;
    int64_t last_byte = -1;
  };

  static void Join(const Range& later, Range& range);

  std::map<uint64_t, Range> ranges_;  // by first frame
  uint64_t unplaced_ = 0;
};

}  // namespace bulkhead::session
