// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/frame_sequence.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "core/base/status_macros.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {
namespace {

// The number of recorded frames that are compared before a new worker
// continues. Comparing more frames would cost conversions and show nothing new,
// since each frame depends on the frames before it.
constexpr size_t kComparedFrames = 3;

// The number of recorded frames that are compared with another device's frames.
constexpr size_t kProvingFrames = 64;

// The number of frames at the beginning of a stream whose durations may change.
// libavformat first reads up to 7 s of packets to find the frame rate, and may
// not know the durations of these packets. After a seek, it reads them again
// and knows the durations.
constexpr size_t kProbedFrames = 1'000;

// Returns the damage that Next() returns for an event. Returns nullopt for
// sound pictures, for notes, and for frames that the play skips
// (PlayRequest::skip_before), since these were delivered before.
std::optional<frames::Damage> DamageOf(const worker_link::PlayEvent& event) {
  if (const auto* published =
          std::get_if<worker_link::PublishedFrame>(&event)) {
    if (!published->damaged) return std::nullopt;
    return worker_link::DamageOf(*published);
  }
  const auto* unseen = std::get_if<worker_link::UnseenFrame>(&event);
  if (!unseen ||
      (unseen->fate != worker_link::UnseenFrame::Fate::kLost &&
       unseen->fate != worker_link::UnseenFrame::Fate::kNotInIndex)) {
    return std::nullopt;
  }
  return unseen->damage;
}

}  // namespace

FrameSequence::FrameSequence(frames::DamageLog& log, Witness& witness,
                             bool shows_damaged, uint64_t most_recorded)
    : log_(log),
      witness_(witness),
      shows_damaged_(shows_damaged),
      record_(witness, std::max(most_recorded, uint64_t{kComparedFrames})) {}

Result<FrameSequence::Event> FrameSequence::Next(
    worker_link::VideoLink& video) {
  const bool onward = std::exchange(playing_, false) && video.PlaysFor(this);
  if (!onward) RETURN_IF_ERROR(Resume(video));
  auto event = Await(video);
  playing_ = bool{event};
  return event;
}

Result<FrameSequence::Event> FrameSequence::Await(
    worker_link::VideoLink& video) {
  for (;;) {
    ASSIGN_OR_RETURN(worker_link::PlayEvent event, video.Await());
    if (std::holds_alternative<worker_link::EndOfStream>(event)) {
      ended_ = true;
      return Event(worker_link::EndOfStream{});
    }
    if (SkippedUnrecorded(event)) {
      // A play from the beginning skips no frame. Disorder makes Resume()
      // choose such a play.
      record_.Disorder();
      RETURN_IF_ERROR(Resume(video));
      continue;
    }
    if (const auto* unseen = std::get_if<worker_link::UnseenFrame>(&event);
        unseen && unseen->fate == worker_link::UnseenFrame::Fate::kNote) {
      log_.Add(unseen->damage);
      continue;
    }
    auto* const published = std::get_if<worker_link::PublishedFrame>(&event);
    std::optional<frames::Damage> damage = DamageOf(event);
    if (!published && !damage) continue;
    // Damage before the end of the record was returned earlier.
    if (!published && passing_recorded_ && damage->pts <= record_.back().pts) {
      continue;
    }
    if (damage && damage->not_in_index) {
      // A worker that replaces a dead worker reports the same gap again.
      if (!gaps_told_.insert(frames::KeyOf(*damage)).second) continue;
      log_.Add(*damage);
      return Event(*damage);
    }
    gaps_told_.clear();
    passing_recorded_ = false;
    const uint64_t number = next();
    const bool delivered = published && (!damage || shows_damaged_);
    record_.Add({.pts = published ? published->pts : damage->pts,
                 .duration = published ? published->duration : damage->duration,
                 .position = published ? published->position : damage->position,
                 .check = published && !damage ? published->check : 0,
                 .delivered = delivered},
                published ? published->fingerprint : 0);
    frames_ += damage ? damage->packets : 1;
    if (damage) {
      if (frames::HasPlace(*damage)) damage->frame = number;
      log_.Add(*damage);
    }
    if (delivered) {
      return Event(std::move(*published));
    }
    return Event(*damage);
  }
}

bool FrameSequence::SkippedUnrecorded(
    const worker_link::PlayEvent& event) const {
  const auto* unseen = std::get_if<worker_link::UnseenFrame>(&event);
  return unseen && !passing_recorded_ &&
         (unseen->fate == worker_link::UnseenFrame::Fate::kSound ||
          unseen->fate == worker_link::UnseenFrame::Fate::kDamaged);
}

void FrameSequence::Rewind() {
  record_.Clear();
  gaps_told_.clear();
  frames_ = 0;
  ended_ = false;
  playing_ = false;
  passing_recorded_ = false;
}

Status FrameSequence::Resume(worker_link::VideoLink& video) {
  passing_recorded_ = false;
  if (record_.empty()) {
    return video.Play(this,
                      {.start = worker_link::PlayRequest::Start::kBeginning,
                       .in_turn = true});
  }
  ASSIGN_OR_RETURN(const uint64_t same, PlayCompared(video));
  if (witness_.proving()) {
    // Only delivered pictures count as compared. Equal damage proves little.
    witness_.Replayed(same > 0, record_.DeliveredOfLast(same));
  }
  if (same > 0) return Status();
  if (witness_.goes_on_uncompared()) return PlayUncompared(video);
  if (record_.has_dropped()) {
    return Status(Code::kResourceExhausted,
                  "its worker was lost, and another one would have to decode "
                  "it from the beginning, but only the last " +
                      std::to_string(record_.size()) +
                      " frames are remembered; raise " +
                      ipc::LimitName("index_frames") + " and start over");
  }
  return Status(Code::kBadInput,
                "it was decoded again in a new worker, and the pictures "
                "differ from those that were delivered, so it cannot go "
                "on: either the file was changed meanwhile, or its decoder "
                "does not give the same pictures twice; open it again from "
                "the start, on another device if that happens again");
}

Result<uint64_t> FrameSequence::PlayCompared(worker_link::VideoLink& video) {
  // A seek needs ascending timestamps: they say where to seek, and which of the
  // next frames are already recorded.
  seeks_ = true;
  if (record_.ascending()) {
    const bool proving = witness_.proving();
    const size_t most = proving ? kProvingFrames : kComparedFrames;
    const size_t first = record_.size() - std::min(record_.size(), most);
    // A seek to the last point of access is the quickest, even if fewer than
    // `most` recorded frames follow. Another device must show all of them.
    const size_t entry = proving ? first : record_.size() - 1;
    worker_link::PlayRequest play = record_.PlayTo(entry);
    if (play.start == worker_link::PlayRequest::Start::kPacket) {
      play.skip_before = record_[first].pts;
      RETURN_IF_ERROR(video.Play(this, play));
      const auto same = DropSeen(video, Entry::kSeek, first);
      if (same && *same > 0) return *same;
      // If the seek failed but the worker lives, or if the frames did not match
      // the record, decoding from the beginning may still succeed.
      if (!same && video.dead()) return same.error();
      seeks_ = bool{same};
    }
  }
  if (record_.has_dropped()) return uint64_t{0};
  RETURN_IF_ERROR(
      video.Play(this, {.start = worker_link::PlayRequest::Start::kBeginning}));
  return DropSeen(video, Entry::kBeginning, 0);
}

Status FrameSequence::PlayUncompared(worker_link::VideoLink& video) {
  if (!record_.ascending()) {
    RETURN_IF_ERROR(video.Play(
        this, {.start = worker_link::PlayRequest::Start::kBeginning}));
    return DropCounted(video);
  }
  const int64_t last = record_.back().pts;
  passing_recorded_ = true;
  worker_link::PlayRequest play{
      .start = worker_link::PlayRequest::Start::kBeginning};
  if (seeks_) play = record_.PlayTo(record_.size() - 1);
  play.skip_before = last == INT64_MAX ? last : last + 1;
  return video.Play(this, play);
}

Status FrameSequence::DropCounted(worker_link::VideoLink& video) {
  for (uint64_t left = next(); left > 0;) {
    ASSIGN_OR_RETURN(const worker_link::PlayEvent event, video.Await());
    if (std::holds_alternative<worker_link::EndOfStream>(event)) {
      return Status(Code::kBadInput,
                    "this device shows fewer frames of it than were delivered "
                    "already; open it again from the start");
    }
    const auto damage = DamageOf(event);
    const bool recorded =
        damage ? !damage->not_in_index
               : std::holds_alternative<worker_link::PublishedFrame>(event);
    if (recorded) --left;
  }
  return Status();
}

Result<uint64_t> FrameSequence::DropSeen(worker_link::VideoLink& video,
                                         Entry entry, size_t first) {
  // If durations differ, a pass from the beginning is needed. Such a pass is
  // possible only while the record has the first frames of the stream.
  const bool compares_durations = entry == Entry::kSeek &&
                                  next() <= kProbedFrames &&
                                  !record_.has_dropped();
  for (size_t expected = first; expected < record_.size();) {
    ASSIGN_OR_RETURN(worker_link::PlayEvent event, video.Await());
    FrameRecord::Stamp seen;
    uint64_t fingerprint = 0;
    bool made_up = false;
    if (const auto* published =
            std::get_if<worker_link::PublishedFrame>(&event)) {
      seen = {.pts = published->pts,
              .duration = published->duration,
              .position = published->position};
      fingerprint = published->fingerprint;
      // The made-up parts of a damaged picture depend on what the buffer held
      // before. They therefore differ if the worker decodes ahead. In a pass
      // from the beginning, the difference is ignored, unless the caller is
      // shown damaged pictures.
      made_up = first == 0 && published->damaged && !shows_damaged_;
    } else if (const auto* unseen =
                   std::get_if<worker_link::UnseenFrame>(&event)) {
      if (unseen->fate != worker_link::UnseenFrame::Fate::kLost) continue;
      // The worker also reports damage between the keyframe and the first frame
      // to compare.
      const frames::Damage& lost = unseen->damage;
      if (first > 0 && lost.pts < record_[first].pts) continue;
      seen = {.pts = lost.pts,
              .duration = lost.duration,
              .position = lost.position};
    } else {
      return uint64_t{0};
    }
    // After a seek, the first frames to compare may be missing, because they
    // depend on a damaged packet. The comparison then begins at the first frame
    // that comes.
    while (expected == first && first > 0 && first + 1 < record_.size() &&
           record_[first].pts < seen.pts) {
      expected = ++first;
    }
    // Joined recordings may have a part twice, with the same timestamps and
    // pictures. After a seek, only the offset in the file shows which part it
    // is. In a pass from the beginning, counting shows it, and offsets are not
    // compared: they may differ from offsets recorded after a seek.
    if (!record_.IsSame(expected, seen, fingerprint,
                        {.positions = first > 0,
                         .durations = compares_durations,
                         .pictures = !made_up})) {
      return uint64_t{0};
    }
    ++expected;
  }
  return record_.size() - first;
}

}  // namespace bulkhead::session
