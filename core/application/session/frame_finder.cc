// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/frame_finder.h"

#include <algorithm>
#include <utility>

#include "core/base/status_macros.h"

namespace bulkhead::session {
namespace {

constexpr uint64_t kMaxWindow = 64;

}  // namespace

FrameFinder::FrameFinder(frames::FrameIndex index, frames::DamageLog& log,
                         bool shows_damaged, WhyMissing why_missing)
    : index_(std::move(index)),
      log_(log),
      shows_damaged_(shows_damaged),
      why_missing_(std::move(why_missing)),
      record_(&index_) {}

Result<FrameFinder::Found> FrameFinder::Find(worker_link::VideoLink& video,
                                             uint64_t i) {
  return index_.timestamped() ? FindByTime(video, i) : FindByCounting(video, i);
}

Result<FrameFinder::Found> FrameFinder::FindByTime(
    worker_link::VideoLink& video, uint64_t i) {
  if (record_.KnownDamaged(i)) {
    if (const auto known = damaged_.find(i); known != damaged_.end()) {
      return Found(known->second);
    }
  }
  // This loop ends: a rejected pass either makes its entry unfit or leads to a
  // pass from the beginning, which is always believed.
  for (bool from_beginning = false;;) {
    ASSIGN_OR_RETURN(Pass pass, MakePass(video, i, from_beginning));
    if (pass.found) return *std::move(pass.found);
    from_beginning = pass.verdict == Verdict::kDoubtful;
  }
}

Status FrameFinder::Start(worker_link::VideoLink& video, uint64_t i,
                          bool from_beginning) {
  window_ = 1;
  worker_link::PlayRequest play{
      .start = worker_link::PlayRequest::Start::kBeginning,
      .skip_before = index_[i].pts,
      .max_frames = window_};
  const auto entry = from_beginning ? std::nullopt : record_.FindEntry(i);
  // With damage between the entry and the frame, the pass begins at the
  // beginning, since a seek might hide the damage.
  if (entry && !log_.Has(*entry, i)) {
    play.entry = index_[*entry];
    play.keyframe_before = play.entry.pts;
    // An entry has no check if the index knows the container's keyframes only;
    // the worker then seeks by time.
    play.start = play.entry.check != 0
                     ? worker_link::PlayRequest::Start::kPacket
                     : worker_link::PlayRequest::Start::kKeyframe;
  }
  return video.Play(this, play);
}

Result<FrameFinder::Pass> FrameFinder::MakePass(worker_link::VideoLink& video,
                                                uint64_t i,
                                                bool from_beginning) {
  const int64_t target = index_[i].pts;
  // Continues the present pass if possible, except if a point of access on the
  // way makes a seek quicker. After damage, a pass that began with a seek is
  // not trusted.
  bool entering = from_beginning || !Follows(video) || i <= position_ ||
                  index_.EntryOf(i).value_or(0) > position_ + 1 ||
                  (!record_.from_beginning() && log_.Has(position_, i));
  following_ = false;
  if (entering) RETURN_IF_ERROR(Start(video, i, from_beginning));
  std::optional<frames::Damage> met;  // what the pass has shown of frame `i`
  for (;;) {
    ASSIGN_OR_RETURN(worker_link::PlayEvent event, video.Await());
    if (std::exchange(entering, false)) {
      if (!video.entry_untrusted()) {
        record_.EnterAtBeginning();
      } else if (!record_.EnterAt(*video.entry_untrusted())) {
        return Pass{Verdict::kDoubtful, std::nullopt};
      }
    }
    if (std::holds_alternative<worker_link::Paused>(event)) {
      window_ = std::min(2 * window_, kMaxWindow);
      RETURN_IF_ERROR(
          video.Play(this, {.start = worker_link::PlayRequest::Start::kOnward,
                            .skip_before = target,
                            .max_frames = window_}));
      continue;
    }
    Pass pass;
    auto* const published = std::get_if<worker_link::PublishedFrame>(&event);
    if (published) {
      if (published->damaged) Log(worker_link::DamageOf(*published));
      if (published->pts == target) met = worker_link::DamageOf(*published);
      pass.verdict =
          record_.Saw(published->pts, published->position, published->damaged);
    } else if (const auto* unseen =
                   std::get_if<worker_link::UnseenFrame>(&event)) {
      if (unseen->fate == worker_link::UnseenFrame::Fate::kNotInIndex) {
        log_.Add(unseen->damage);
        continue;
      }
      if (unseen->fate != worker_link::UnseenFrame::Fate::kSound)
        Log(unseen->damage);
      if (unseen->fate == worker_link::UnseenFrame::Fate::kNote) continue;
      if (unseen->damage.pts == target) met = unseen->damage;
      // record_ takes only pictures. With the next picture, it notices that
      // this frame is missing.
      if (unseen->fate == worker_link::UnseenFrame::Fate::kLost) continue;
      pass.verdict =
          record_.Saw(unseen->damage.pts, unseen->damage.position,
                      unseen->fate == worker_link::UnseenFrame::Fate::kDamaged);
    } else {
      pass.verdict = record_.SawEnd();
    }
    if (pass.verdict != Verdict::kAgrees) return pass;
    // Only after the pass has passed frame `i` is it known whether `i` is
    // missing.
    if (!record_.Passed(i)) continue;
    const bool is_wanted = published && published->pts == target &&
                           (!published->damaged || shows_damaged_);
    pass.found = Conclude(i, is_wanted ? published : nullptr, std::move(met));
    return pass;
  }
}

FrameFinder::Found FrameFinder::Conclude(uint64_t i,
                                         worker_link::PublishedFrame* published,
                                         std::optional<frames::Damage> met) {
  if (published) {
    following_ = true;
    position_ = i;
    return FoundFrame{i, std::move(*published)};
  }
  frames::Damage damage = met ? *std::move(met)
                              : frames::Damage{{.pts = index_[i].pts,
                                                .duration = index_[i].duration,
                                                .sign = why_missing_()}};
  damage.frame = i;
  log_.Add(damage);
  const frames::Damage found = damage;
  // The words are kept in the log only, which is bounded.
  damage.words.clear();
  damaged_.emplace(i, std::move(damage));
  return found;
}

Result<FrameFinder::Found> FrameFinder::FindByCounting(
    worker_link::VideoLink& video, uint64_t i) {
  // The damage of a frame that no pass shows.
  const auto beyond = [&] {
    return Found(frames::Damage{{.sign = why_missing_()}, i});
  };
  if (counted_ > 0 && i >= counted_) return beyond();
  const bool follows = Follows(video);
  following_ = false;
  if (!follows || i < position_) {
    RETURN_IF_ERROR(video.Play(
        this, {.start = worker_link::PlayRequest::Start::kBeginning}));
    position_ = 0;
  }
  for (;;) {
    ASSIGN_OR_RETURN(worker_link::PlayEvent event, video.Await());
    std::optional<frames::Damage> damage;
    auto* const published = std::get_if<worker_link::PublishedFrame>(&event);
    if (published) {
      if (published->damaged) damage = worker_link::DamageOf(*published);
    } else if (const auto* unseen =
                   std::get_if<worker_link::UnseenFrame>(&event)) {
      damage = unseen->damage;
    } else {
      // The stream has ended before frame `i`.
      counted_ = position_;
      return beyond();
    }
    // A gap or a note stands for no frame, so it is logged and not counted. Any
    // other damage counts as one frame, as in FrameSequence. It gets the number
    // of that frame only if it is exactly one frame.
    if (damage && (damage->not_in_index || ipc::IsNote(damage->sign))) {
      log_.Add(*damage);
      continue;
    }
    if (damage) {
      if (frames::HasPlace(*damage)) damage->frame = position_;
      log_.Add(*damage);
    }
    if (position_++ < i) continue;
    following_ = true;
    if (published && (!damage || shows_damaged_)) {
      return Found(FoundFrame{i, std::move(*published)});
    }
    return Found(*damage);
  }
}

void FrameFinder::Log(const frames::Damage& damage) {
  // A pass that began with a seek may meet damage that the seek itself has
  // caused.
  if (!record_.from_beginning()) return;
  frames::Damage placed = damage;
  if (const auto frame = index_.Find(damage.pts)) placed.frame = *frame;
  log_.Add(placed);
}

Result<FrameFinder::Found> FrameFinder::FindNearest(
    worker_link::VideoLink& video, uint64_t i) {
  ASSIGN_OR_RETURN(Found found, Find(video, i));
  if (std::holds_alternative<FoundFrame>(found)) return found;
  auto before = Before(i);
  // With timestamps, later frames are tried first, as long as they are nearer
  // than `before`. Without, no distance is known: earlier frames come first.
  if (index_.timestamped()) {
    ASSIGN_OR_RETURN(Found later, FindLater(video, i, before));
    if (std::holds_alternative<FoundFrame>(later)) return later;
  }
  for (; before; before = Before(*before)) {
    ASSIGN_OR_RETURN(Found other, Find(video, *before));
    if (std::holds_alternative<FoundFrame>(other)) return other;
  }
  if (!index_.timestamped()) {
    ASSIGN_OR_RETURN(Found later, FindLater(video, i, std::nullopt));
    if (std::holds_alternative<FoundFrame>(later)) return later;
  }
  return found;
}

Result<FrameFinder::Found> FrameFinder::FindLater(
    worker_link::VideoLink& video, uint64_t i, std::optional<uint64_t> before) {
  for (uint64_t later = i + 1; later < index_.size(); ++later) {
    if (before && Distance(i, *before) <= Distance(i, later)) break;
    if (counted_ > 0 && later >= counted_) break;
    if (index_.timestamped() && record_.KnownDamaged(later)) continue;
    ASSIGN_OR_RETURN(Found other, Find(video, later));
    if (std::holds_alternative<FoundFrame>(other)) return other;
  }
  return Found(frames::Damage{{}, i});
}

std::optional<uint64_t> FrameFinder::Before(uint64_t i) const {
  if (counted_ > 0) i = std::min(i, counted_);
  while (i-- > 0) {
    const bool sound = !index_.timestamped() ||
                       record_[i] == frames::StraightRecord::Frame::kSound;
    if (sound) return i;
  }
  return std::nullopt;
}

uint64_t FrameFinder::Distance(uint64_t a, uint64_t b) const {
  const auto [low, high] = std::minmax(a, b);
  return static_cast<uint64_t>(index_[high].pts) -
         static_cast<uint64_t>(index_[low].pts);
}

}  // namespace bulkhead::session
