// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "core/application/frames/damage_log.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// The frames of a video stream in their order, each once, across any number of
// workers: the reason why a caller of Next() does not notice that a worker
// died.
//
// It records the timestamp and the fingerprint of each frame that was delivered
// or told of as damaged. A new worker seeks to the keyframe before the last of
// them and decodes on; frames that were delivered already come again, are
// compared with the record and dropped, and what follows is what the caller is
// owed. Where the record does not match (streams that do not seek exactly,
// timestamps that repeat), the worker decodes from the beginning instead, which
// always matches unless the file was changed.
//
// Failures are those of the link, after which the play must be forgotten. Not
// thread-safe.
class FrameSequence {
 public:
  using Event = std::variant<PublishedFrame, Damage, EndOfStream>;

  // `log`, which gets the damage that is met, outlives the sequence.
  explicit FrameSequence(DamageLog& log) : log_(log) {}
  FrameSequence(const FrameSequence&) = delete;
  FrameSequence& operator=(const FrameSequence&) = delete;

  // Returns the number of the frame that comes next.
  uint64_t next() const { return seen_.size(); }
  bool ended() const { return ended_; }

  Result<Event> Next(VideoLink& video);
  // Says that the worker was lost, or that its play serves another purpose now.
  // The next call of Next() then starts a play of its own.
  void Forget() { playing_ = false; }
  // Begins again with the first frame.
  void Rewind();

 private:
  // A frame of the record.
  struct Stamp {
    int64_t pts;
    uint64_t fingerprint;  // 0: the packet yielded no picture
    bool operator==(const Stamp&) const = default;
  };

  // Starts a play whose next event is the one behind the record.
  Status Resume(VideoLink& video);
  // Drops the frames of the record from `first` on as they come again. Returns
  // false if what comes differs from the record.
  Result<bool> DropSeen(VideoLink& video, size_t first);

  DamageLog& log_;
  std::vector<Stamp> seen_;
  bool ascending_ = true;  // all of seen_ have timestamps, in ascending order
  bool ended_ = false;
  bool playing_ = false;  // the worker's play goes on behind seen_
};

}  // namespace bulkhead::session
