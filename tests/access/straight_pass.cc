// SPDX-License-Identifier: Apache-2.0
#include "tests/access/straight_pass.h"

#include <vector>

#include "tests/support/frame_hash.h"

namespace bulkhead::tests {

SeenFrame See(const Frame& frame) {
  return {frame.index(), frame.pts(), frame.pts_seconds(), HashOf(frame)};
}

std::string Describe(const SeenFrame& frame) {
  return std::to_string(frame.index) + ": " +
         (frame.pts ? std::to_string(*frame.pts) : "no timestamp") + " " +
         frame.hash;
}

StraightPass DecodeStraight(VideoDecoder& video) {
  StraightPass pass;
  for (;;) {
    auto frame = video.Next();
    if (!frame) {
      pass.failure = std::move(frame).error();
      return pass;
    }
    if (!*frame) return pass;
    pass.frames.push_back(See(**frame));
  }
}

std::vector<DamagedRange> DamageOf(const VideoDecoder& video) {
  std::vector<DamagedRange> damage = video.damage();
  std::erase_if(damage, [](const DamagedRange& range) {
    return range.kind == DamageKind::kNote;
  });
  return damage;
}

uint64_t DamagedFrames(const VideoDecoder& video) {
  uint64_t damaged = 0;
  for (const DamagedRange& range : DamageOf(video)) {
    if (!range.not_in_index) damaged += range.frames;
  }
  return damaged;
}

bool IsListedAsDamaged(const VideoDecoder& video, int64_t pts) {
  constexpr double kTolerance = 1e-6;
  const double seconds =
      static_cast<double>(pts) * video.metadata().time_base.value();
  const std::vector<DamagedRange> damage = DamageOf(video);
  for (const DamagedRange& range : damage) {
    if (!range.begin_seconds) return true;
    const double begin = *range.begin_seconds;
    const double end = range.end_seconds.value_or(begin);
    // The last frame of a file may have no duration.
    const bool is_last = &range == &damage.back();
    if (seconds > begin - kTolerance &&
        (seconds < end - kTolerance || seconds < begin + kTolerance ||
         (is_last && seconds < end + kTolerance))) {
      return true;
    }
  }
  return false;
}

}  // namespace bulkhead::tests
