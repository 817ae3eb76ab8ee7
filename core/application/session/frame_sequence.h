// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <variant>

#include "core/application/frames/damage_log.h"
#include "core/application/session/frame_record.h"
#include "core/application/session/witness.h"
#include "core/application/worker_link/video_link.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Delivers the frames of a video stream in order, each once, across any number
// of workers. A caller of Next() does not notice the death of a worker.
//
// The sequence records each frame that was delivered or reported as damaged
// (FrameRecord). A new worker seeks to the last point of access in the record,
// and decodes from it. Recorded frames then come again. The sequence compares
// them with the record and drops them, until the first frame comes that is not
// recorded.
//
// The new worker decodes from the beginning instead in these cases:
// - There is no such point of access.
// - The frames do not match the record, because the stream does not seek
//   exactly, its timestamps repeat, or libavformat knows its durations only
//   after a seek. From the beginning, the frames match unless the file has
//   changed.
// - Timestamps start again after the record. A play (request for frames) that
//   skips all timestamps up to the end of the record would skip new frames too.
//
// A worker of another device (failover.h) may make other pictures. Its first
// play compares more frames than usual, since it tests a decoder and not a
// file. Even if frames differ, the sequence continues: at the point of access
// before the next frame, or by counting where timestamps give no order. The
// fingerprints of recorded frames are then no longer compared.
//
// The record has the last Limits::index_frames frames. Once it has dropped the
// first frames of the stream, it cannot check a pass from the beginning. If
// such a pass is necessary, Next() fails with kResourceExhausted.
//
// A worker has one play at a time (VideoLink::Play). The sequence continues its
// own play, or begins a new one if another object has begun one since. Errors
// are those of VideoLink; the next call then begins a new play. Owned by the
// VideoSession. Not thread-safe.
class FrameSequence {
 public:
  using Event = std::variant<worker_link::PublishedFrame, frames::Damage,
                             worker_link::EndOfStream>;

  // `log` gets all damage and notes that the sequence meets, `witness` the
  // fingerprints of recorded frames. Both must outlive the sequence. With
  // `shows_damaged`, Next() returns damaged pictures as pictures; without, as
  // Damage. `most_recorded` is the largest number of recorded frames.
  FrameSequence(frames::DamageLog& log, Witness& witness, bool shows_damaged,
                uint64_t most_recorded);
  FrameSequence(const FrameSequence&) = delete;
  FrameSequence& operator=(const FrameSequence&) = delete;

  // Returns the number of the frame that comes next.
  uint64_t next() const { return record_.next(); }
  // Returns the number of frames passed so far: delivered frames, plus frames
  // lost to damage (except gaps, that is, frames that the index lacks).
  uint64_t frames() const { return frames_; }
  // Ends the sequence, because the stream cannot be decoded any further.
  void End() { ended_ = true; }
  bool ended() const { return ended_; }

  // Returns the next picture, damage or the end of the stream. Plays up to the
  // next frame first if the worker is new.
  Result<Event> Next(worker_link::VideoLink& video);
  // Makes Next() return the first frame again.
  void Rewind();

 private:
  // Waits for the next event that the caller must get, and records it.
  Result<Event> Await(worker_link::VideoLink& video);
  // Returns whether `event` reports a skipped frame that the record lacks. A
  // play skips all frames up to the last recorded timestamp. If timestamps
  // repeat, as in joined recordings, new frames are among them. The caller must
  // get these.
  bool SkippedUnrecorded(const worker_link::PlayEvent& event) const;
  // Begins a play and gets past the recorded frames, so that the next event is
  // the first that is not recorded.
  Status Resume(worker_link::VideoLink& video);
  // Implements Resume() with a comparison of the recorded frames. Returns how
  // many were compared, or 0 if one differs.
  Result<uint64_t> PlayCompared(worker_link::VideoLink& video);
  // Implements Resume() without a comparison.
  Status PlayUncompared(worker_link::VideoLink& video);
  // The point at which a play began.
  enum class Entry { kSeek, kBeginning };
  // Takes the recorded frames from record_[first] on as they come again, and
  // compares them. Returns their number, or 0 if one differs.
  Result<uint64_t> DropSeen(worker_link::VideoLink& video, Entry entry,
                            size_t first);
  // Takes next() frames from a play from the beginning, without comparing.
  Status DropCounted(worker_link::VideoLink& video);

  frames::DamageLog& log_;
  Witness& witness_;
  const bool shows_damaged_;
  FrameRecord record_;
  std::set<frames::GapKey> gaps_told_;  // returned gaps after record_.back()
  uint64_t frames_ = 0;                 // returned by frames()
  bool ended_ = false;
  bool playing_ = false;           // the latest play continues after record_
  bool seeks_ = true;              // the latest worker could seek
  bool passing_recorded_ = false;  // the play may still report recorded frames
};

}  // namespace bulkhead::session
