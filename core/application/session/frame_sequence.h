// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "core/application/frames/damage_log.h"
#include "core/application/session/failover.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Delivers the frames of a video stream in order, each once, across any number
// of workers, so that a caller of Next() does not notice the death of a worker.
//
// The sequence records the timestamp, the duration, the position in the file
// and the fingerprint of each frame that was delivered or reported as damaged.
// A new worker seeks to the last point of access (ipc::IndexEntry::check)
// before the last recorded frame and decodes from there. Frames that were
// delivered already come again; the sequence compares them with the record and
// drops them. The caller waits for the frames that follow. Where there is no
// such point, or the record does not match (streams that do not seek exactly,
// timestamps that repeat, durations that libavformat knows only after a seek),
// the worker decodes from the beginning instead, which always matches unless
// the file was changed. It does the same where timestamps begin anew after the
// record: a play that leaves out what is before the record would leave out
// those frames too.
//
// A worker of another device (failover.h) may make other pictures. Its first
// play compares more frames, since it is to prove something about a decoder and
// not about a file. If they differ, it goes on all the same, at the point of
// access before the next frame, or by counting where timestamps give no order.
// The frames that were recorded before then have no fingerprints any more.
//
// The record has the last Limits::index_frames frames. Once it has lost the
// first frames, no worker can decode from the beginning any more: where that
// would be necessary, Next() fails with kResourceExhausted.
//
// Goes on with the worker's play if that is still its own. It fails as
// VideoLink does; after an error the sequence begins a new play. Not
// thread-safe.
class FrameSequence {
 public:
  using Event = std::variant<worker_link::PublishedFrame, frames::Damage,
                             worker_link::EndOfStream>;

  // `log` receives the damage and the notes that the sequence meets, and must
  // outlive the sequence. With `shows_damaged`, Next() returns a damaged
  // picture as a picture, otherwise as damage. `most_recorded` is the largest
  // number of recorded frames.
  FrameSequence(frames::DamageLog& log, bool shows_damaged,
                uint64_t most_recorded)
      : log_(log),
        shows_damaged_(shows_damaged),
        most_recorded_(most_recorded) {}
  FrameSequence(const FrameSequence&) = delete;
  FrameSequence& operator=(const FrameSequence&) = delete;

  // Returns the number of the frame that comes next.
  uint64_t next() const { return dropped_ + seen_.size(); }
  // Returns the number of frames that were delivered or reported as damage.
  uint64_t frames() const { return frames_; }
  // Ends the sequence, for a stream that cannot be decoded further.
  void End() { ended_ = true; }
  bool ended() const { return ended_; }

  Result<Event> Next(worker_link::VideoLink& video);
  // Begins again with the first frame.
  void Rewind();
  // Records that the next play is another device's.
  void ChangeDevice() { other_device_ = !seen_.empty(); }
  // Returns what that play showed of the recorded frames, once.
  std::optional<Comparison> TakeComparison() {
    return std::exchange(comparison_, std::nullopt);
  }

 private:
  // One recorded frame.
  struct Stamp {
    int64_t pts;
    int64_t duration;      // 0: unknown
    int64_t position;      // byte of its packet in the file; -1: unknown
    uint64_t fingerprint;  // 0: the packet yielded no picture
    uint32_t check = 0;    // as in ipc::IndexEntry
    bool delivered = false;
  };

  Result<Event> Await(worker_link::VideoLink& video);
  // Returns whether the play of a new worker, after the frames that come
  // again, left out a frame for its early timestamp. Timestamps that repeat, as
  // in recordings that were joined, have such frames, and the caller waits for
  // them.
  bool LeftOutTooMuch(const worker_link::PlayEvent& event) const;
  void Record(Stamp stamp);
  // Returns a play that begins at the last point of access at or before the
  // frame `seen` of the record; at the beginning if there is none, or if the
  // worker cannot seek.
  worker_link::PlayRequest PlayTo(size_t seen) const;
  // Starts a play whose next event is the first one that is not recorded.
  Status Resume(worker_link::VideoLink& video);
  // Starts a play that comes to the end of the record, and compares the frames
  // that come again with the record. Returns how many agree: all of them, or 0.
  Result<uint64_t> PlayCompared(worker_link::VideoLink& video);
  // Does the same without comparing.
  Status PlayUncompared(worker_link::VideoLink& video);
  // Where a play began.
  enum class Entry { kSeek, kBeginning };
  // Drops the frames of the record from `first` on as they come again. Returns
  // their number, or 0 if the frames that come differ from the record.
  Result<uint64_t> DropSeen(worker_link::VideoLink& video, Entry entry,
                            size_t first);
  // Drops as many frames as were recorded, whatever they show.
  Status DropCounted(worker_link::VideoLink& video);

  frames::DamageLog& log_;
  const bool shows_damaged_;
  const uint64_t most_recorded_;
  std::deque<Stamp> seen_;
  std::optional<Stamp> earlier_point_;  // the last one before seen_
  std::set<frames::GapKey> gaps_told_;  // missing ends since the last of seen_
  uint64_t dropped_ = 0;                // frames before seen_
  uint64_t frames_ = 0;
  bool ascending_ = true;  // all of seen_ have timestamps, in ascending order
  bool ended_ = false;
  bool playing_ = false;           // its play continues after seen_
  bool other_device_ = false;      // the record is another device's
  size_t without_prints_ = 0;      // the first of seen_, made by another device
  bool seeks_ = true;              // the latest worker could seek
  bool passing_recorded_ = false;  // the play may still tell of recorded frames
  std::optional<Comparison> comparison_;
};

}  // namespace bulkhead::session
