// SPDX-License-Identifier: Apache-2.0
#include "core/session/video_session.h"

#include <algorithm>
#include <type_traits>

#include "core/from_ipc.h"
#include "core/session/given_index.h"
#include "core/session/output_options.h"
#include "core/session/poisoned_input.h"
#include "core/session/stream_timing.h"
#include "core/status_macros.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::session {
namespace {

// Frames of the record that a replay compares before it goes on. More would
// cost conversions and could not tell more: each frame depends on those before.
constexpr size_t kComparedFrames = 3;
constexpr uint64_t kMaxWindow = 64;

}  // namespace

Result<std::unique_ptr<VideoSession>> VideoSession::Open(
    std::shared_ptr<SupervisorLink> supervisor, const Source& source,
    VideoOptions options, const Limits& limits) {
  if (options.stream_index.value_or(0) < 0) {
    return Status(Code::kInvalidArgument,
                  source.name() + " has no stream " +
                      std::to_string(*options.stream_index) +
                      "; leave the index out for the first video stream");
  }
  RETURN_IF_ERROR(ValidateOutput(options, limits));
  if (options.seek_mode == SeekMode::kApproximate &&
      !options.frame_mappings.empty()) {
    return Status(Code::kInvalidArgument,
                  "frame_mappings are an exact index; leave them or "
                  "SeekMode::kApproximate out");
  }
  ASSIGN_OR_RETURN(MediaInput input, MediaInput::Open(source));
  std::unique_ptr<VideoSession> session(new VideoSession(
      std::move(supervisor), std::move(input), std::move(options), limits));
  RETURN_IF_ERROR(session->recovery_.Run(SessionEvent::kOpened,
                                         []() -> Status { return Status(); }));
  return session;
}

WorkerRecovery::Settings VideoSession::RecoverySettings() const {
  WorkerRecovery::Settings settings{
      .device = options_.device,
      .input_key = InputKey(input_.identity(), options_),
      .observer = options_.recovery_observer,
      .limits = limits_};
  SetOptions(options_, settings.request);
  return settings;
}

VideoSession::VideoSession(std::shared_ptr<SupervisorLink> supervisor,
                           MediaInput input, VideoOptions options,
                           const Limits& limits)
    : input_(std::move(input)),
      options_(std::move(options)),
      limits_(limits),
      recovery_(std::move(supervisor), input_, RecoverySettings(), *this) {}

Status VideoSession::OpenOn(WorkerLink& link, uint32_t incarnation) {
  video_.emplace(link);
  ASSIGN_OR_RETURN(VideoMetadata opened,
                   video_->Open(options_, incarnation, limits_, input_,
                                device_ ? &metadata_ : nullptr));
  if (!device_) {
    metadata_ = std::move(opened);
    device_ = std::make_shared<const std::string>(metadata_.device);
  } else if (opened.width != metadata_.width ||
             opened.height != metadata_.height ||
             opened.dtype != metadata_.dtype ||
             opened.codec != metadata_.codec ||
             opened.stream_index != metadata_.stream_index) {
    return Status(Code::kBadInput,
                  "the new worker sees another stream than the one that died; "
                  "was the file changed?");
  }
  if (!pool_) {
    ASSIGN_OR_RETURN(const ipc::FrameGeometry geometry,
                     FromIpc(ipc::RgbGeometry(metadata_.width, metadata_.height,
                                              limits_.frame_pixels,
                                              ElementOf(metadata_.dtype))));
    ASSIGN_OR_RETURN(pool_, FramePool::Create(geometry, limits_.frame_slots,
                                              limits_.session_bytes));
  }
  return link.AttachPool(pool_);
}

void VideoSession::WorkerLost(bool gone) {
  video_.reset();
  mode_ = Mode::kIdle;
  if (pool_ && gone) {
    pool_->ledger().RevokeGrants();
  } else {
    // It may still write: nobody else gets this memory.
    pool_.reset();
  }
}

template <typename Step>
auto VideoSession::WithRecovery(SessionEvent asked, const Step& step)
    -> decltype(step()) {
  auto result = recovery_.Run(asked, step);
  bool done;
  if constexpr (std::is_same_v<decltype(result), Status>) {
    done = result.ok();
  } else {
    done = bool{result};
  }
  if (!done) mode_ = Mode::kIdle;
  return result;
}

Result<std::optional<Frame>> VideoSession::Next() {
  if (ended_) return std::optional<Frame>();
  recovery_.Want(delivered_.size());
  const auto next = [this]() -> Result<std::optional<Frame>> {
    if (mode_ != Mode::kSequential) RETURN_IF_ERROR(ResumeSequential());
    ASSIGN_OR_RETURN(PlayEvent event, video_->Await());
    auto* published = std::get_if<PublishedFrame>(&event);
    if (!published) {
      ended_ = true;
      recovery_.Raise(SessionEvent::kEndOfStream);
      return std::optional<Frame>();
    }
    const int64_t pts = published->pts;
    if (pts == ipc::kNoTimestamp ||
        (!delivered_.empty() && pts <= delivered_.back().pts)) {
      delivered_ascend_ = false;
    }
    delivered_.push_back({pts, published->fingerprint});
    recovery_.Progressed();
    return std::make_optional(
        MakeFrame(std::move(*published), delivered_.size() - 1));
  };
  return WithRecovery(SessionEvent::kFrameAsked, next);
}

void VideoSession::Rewind() {
  delivered_.clear();
  delivered_ascend_ = true;
  ended_ = false;
  mode_ = Mode::kIdle;
  recovery_.Raise(SessionEvent::kRewound);
}

Status VideoSession::ResumeSequential() {
  const size_t count = delivered_.size();
  if (count > 0 && delivered_ascend_) {
    const size_t first = count - std::min(count, kComparedFrames);
    RETURN_IF_ERROR(video_->Play({.start = PlayRequest::Start::kKeyframe,
                                  .keyframe_before = delivered_.back().pts,
                                  .skip_before = delivered_[first].pts}));
    const auto matched = DropDelivered(first);
    if (matched && *matched) {
      mode_ = Mode::kSequential;
      return Status();
    }
    if (!matched && recovery_.link().dead()) return matched.error();
  }
  RETURN_IF_ERROR(video_->Play({.start = PlayRequest::Start::kBeginning}));
  if (count > 0) {
    ASSIGN_OR_RETURN(const bool matched, DropDelivered(0));
    if (!matched) {
      return Status(Code::kBadInput,
                    "decoding it again gives other pictures than before, so "
                    "the stream cannot go on where it stopped; start over");
    }
  }
  mode_ = Mode::kSequential;
  return Status();
}

Result<bool> VideoSession::DropDelivered(size_t first) {
  for (size_t expected = first; expected < delivered_.size();) {
    ASSIGN_OR_RETURN(PlayEvent event, video_->Await());
    const auto* published = std::get_if<PublishedFrame>(&event);
    if (!published) return false;
    // After a seek the first frame may be any of those that are compared.
    while (expected == first && first > 0 && first + 1 < delivered_.size() &&
           delivered_[first].pts < published->pts) {
      expected = ++first;
    }
    if (delivered_[expected].pts != published->pts ||
        delivered_[expected].fingerprint != published->fingerprint) {
      return false;
    }
    ++expected;
  }
  return true;
}

Status VideoSession::EnsureIndex() {
  if (index_) return Status();
  ASSIGN_OR_RETURN(index_, MakeIndex());
  TellContent();
  return Status();
}

Result<FrameIndex> VideoSession::MakeIndex() {
  const auto named = [this](Result<FrameIndex> made) {
    return made ? std::move(made)
                : Result<FrameIndex>(made.error().WithContext(input_.name()));
  };
  if (!options_.frame_mappings.empty()) {
    return named(IndexOf(options_.frame_mappings, limits_.index_frames));
  }
  if (options_.seek_mode == SeekMode::kApproximate) {
    auto index = ApproximateIndexOf(metadata_, limits_.index_frames);
    if (index) allowance_ = AllowanceOf(metadata_);
    return named(std::move(index));
  }
  return ScanForIndex();
}

Result<FrameIndex> VideoSession::ScanForIndex() {
  FrameIndex index(limits_.index_frames);
  const auto scan = [&]() -> Status {
    index = FrameIndex(limits_.index_frames);
    mode_ = Mode::kIdle;
    const Status status =
        video_->Scan([&](std::span<const ipc::IndexEntry> entries_untrusted) {
          return index.Add(entries_untrusted);
        });
    // The rest of a scan that was given up is still on its way.
    if (!status.ok() && !recovery_.link().dead()) recovery_.DropWorker();
    return status;
  };
  RETURN_IF_ERROR(WithRecovery(SessionEvent::kIndexAsked, scan));
  recovery_.Acquit();
  recovery_.Raise(SessionEvent::kIndexed);
  index.Finish();
  return index;
}

void VideoSession::TellContent() {
  if (options_.seek_mode == SeekMode::kApproximate) return;
  metadata_.frame_count_from_content = index_->size();
  if (index_->timestamped() && index_->size() > 0) {
    const double unit = metadata_.time_base.value();
    int64_t end = INT64_MIN;
    for (size_t i = 0; i < index_->size(); ++i) {
      int64_t shown_until;
      if (!__builtin_add_overflow((*index_)[i].pts, (*index_)[i].duration,
                                  &shown_until)) {
        end = std::max(end, shown_until);
      }
    }
    metadata_.begin_seconds_from_content =
        static_cast<double>((*index_)[0].pts) * unit;
    metadata_.end_seconds_from_content = static_cast<double>(end) * unit;
  }
  ChooseBest(metadata_, metadata_.average_fps, metadata_.duration_seconds);
}

Result<uint64_t> VideoSession::FrameCount() {
  RETURN_IF_ERROR(EnsureIndex());
  return uint64_t{index_->size()};
}

Result<std::vector<int64_t>> VideoSession::KeyFrameIndices() {
  if (options_.seek_mode == SeekMode::kApproximate) {
    return Status(Code::kInvalidArgument,
                  input_.name() +
                      " was opened with SeekMode::kApproximate, "
                      "which knows no key frames; use kExact");
  }
  RETURN_IF_ERROR(EnsureIndex());
  return std::vector<int64_t>(index_->keyframes().begin(),
                              index_->keyframes().end());
}

Status VideoSession::EnsureTimes() {
  if (times_) return Status();
  RETURN_IF_ERROR(EnsureIndex());
  auto times = FrameTimes::Create(*index_, metadata_.time_base,
                                  metadata_.average_frame_rate);
  if (!times) return std::move(times).error().WithContext(input_.name());
  times_ = *std::move(times);
  return Status();
}

Result<Frame> VideoSession::FrameAt(int64_t index) {
  RETURN_IF_ERROR(EnsureIndex());
  const auto from_start = ResolveIndex(index, index_->size());
  if (!from_start) return from_start.error().WithContext(input_.name());
  return Fetch(*from_start);
}

Result<SecondsRange> VideoSession::PlayedRange() {
  RETURN_IF_ERROR(EnsureTimes());
  return SecondsRange{times_->begin(), times_->end()};
}

Result<Frame> VideoSession::FramePlayedAt(double seconds) {
  RETURN_IF_ERROR(EnsureTimes());
  const auto index = times_->PlayedAt(seconds);
  if (!index) return index.error().WithContext(input_.name());
  return Fetch(*index);
}

Result<Frame> VideoSession::Fetch(uint64_t index) {
  recovery_.Want(index);
  return WithRecovery(SessionEvent::kPlaceAsked, [&]() -> Result<Frame> {
    const bool count = count_frames_ || !index_->timestamped();
    return count ? FetchCounted(index) : FetchIndexed(index);
  });
}

Result<Frame> VideoSession::FetchIndexed(uint64_t index) {
  const int64_t target = (*index_)[index].pts - allowance_;
  const bool onward = mode_ == Mode::kIndexed && position_ < index &&
                      index_->KeyframeOf(index) <= position_ + 1;
  if (!onward) {
    window_ = 1;
    RETURN_IF_ERROR(video_->Play({.start = PlayRequest::Start::kKeyframe,
                                  .keyframe_before = target,
                                  .skip_before = target,
                                  .max_frames = window_}));
  }
  // Until the target is found, what was decoded ahead is of no known place.
  mode_ = Mode::kIdle;
  for (;;) {
    ASSIGN_OR_RETURN(PlayEvent event, video_->Await());
    if (std::holds_alternative<Paused>(event)) {
      window_ = std::min(2 * window_, kMaxWindow);
      RETURN_IF_ERROR(video_->Play({.start = PlayRequest::Start::kOnward,
                                    .skip_before = target,
                                    .max_frames = window_}));
      continue;
    }
    auto* published = std::get_if<PublishedFrame>(&event);
    if (published && published->pts < target) continue;
    if (!published && allowance_ > 0) {
      return Status(Code::kOutOfRange, "the stream ends before frame " +
                                           std::to_string(index) +
                                           ", though its header tells of " +
                                           std::to_string(index_->size()));
    }
    if (!published || published->pts > target + 2 * allowance_) {
      if (index_matches_) return UndecodableError(index);
      // No timestamp of this file has held yet: they mean nothing.
      count_frames_ = true;
      return FetchCounted(index);
    }
    index_matches_ = true;
    mode_ = Mode::kIndexed;
    position_ = index;
    recovery_.Progressed();
    return MakeFrame(std::move(*published), index);
  }
}

Result<Frame> VideoSession::FetchCounted(uint64_t index) {
  if (mode_ != Mode::kCounted || index < position_) {
    RETURN_IF_ERROR(video_->Play({.start = PlayRequest::Start::kBeginning}));
    mode_ = Mode::kCounted;
    position_ = 0;
  }
  for (;;) {
    ASSIGN_OR_RETURN(PlayEvent event, video_->Await());
    auto* published = std::get_if<PublishedFrame>(&event);
    if (!published) return UndecodableError(index);
    if (position_++ == index) {
      recovery_.Progressed();
      return MakeFrame(std::move(*published), index);
    }
  }
}

Status VideoSession::UndecodableError(uint64_t index) const {
  return Status(Code::kBadInput, "frame " + std::to_string(index) +
                                     " cannot be decoded: its data is damaged");
}

Result<FrameBatch> VideoSession::FramesAt(std::span<const int64_t> indices) {
  RETURN_IF_ERROR(EnsureIndex());
  return FetchBatch(ResolveIndices(indices, index_->size()));
}

Result<FrameBatch> VideoSession::FramesInRange(int64_t start,
                                               std::optional<int64_t> stop,
                                               int64_t step) {
  RETURN_IF_ERROR(EnsureIndex());
  return FetchBatch(ResolveSlice(start, stop, step, index_->size()));
}

Result<FrameBatch> VideoSession::FramesPlayedAt(
    std::span<const double> seconds) {
  RETURN_IF_ERROR(EnsureTimes());
  return FetchBatch(times_->PlayedAt(seconds));
}

Result<FrameBatch> VideoSession::FramesPlayedInRange(
    double start, double stop, std::optional<double> fps) {
  RETURN_IF_ERROR(EnsureTimes());
  return FetchBatch(times_->PlayedInRange(start, stop, fps, MostFrames()));
}

Result<FrameBatch> VideoSession::AllFrames(std::optional<double> fps) {
  if (!fps) return FramesInRange(0, std::nullopt, 1);
  RETURN_IF_ERROR(EnsureTimes());
  return FramesPlayedInRange(times_->begin(), times_->end(), fps);
}

FrameBatch VideoSession::EmptyBatch() const {
  return {.width = metadata_.width,
          .height = metadata_.height,
          .dtype = metadata_.dtype,
          .order = options_.dimension_order};
}

uint64_t VideoSession::MostFrames() const {
  return limits_.session_bytes / EmptyBatch().picture_bytes();
}

Result<FrameBatch> VideoSession::FetchBatch(const Result<FrameChoice>& choice) {
  if (!choice) return choice.error().WithContext(input_.name());
  if (choice->indices.size() > MostFrames()) {
    return Status(Code::kResourceExhausted,
                  std::to_string(choice->indices.size()) + " frames of " +
                      input_.name() +
                      " do not fit Limits::session_bytes; ask for fewer at "
                      "once");
  }
  FrameBatch batch = EmptyBatch();
  RETURN_IF_ERROR(FetchInto(batch, *choice,
                            [this](uint64_t index) { return Fetch(index); }));
  return batch;
}

Frame VideoSession::MakeFrame(PublishedFrame&& published,
                              uint64_t index) const {
  FrameInfo info{.width = published.width,
                 .height = published.height,
                 .stride = published.stride,
                 .dtype = metadata_.dtype,
                 .order = options_.dimension_order,
                 .index = index,
                 .duration = published.duration,
                 .keyframe = published.keyframe};
  if (published.pts != ipc::kNoTimestamp) {
    info.pts = published.pts;
    info.pts_seconds = Seconds(published.pts, metadata_.time_base);
  }
  info.duration_seconds = Seconds(published.duration, metadata_.time_base);
  return Frame(std::move(published.lease), info, device_);
}

}  // namespace bulkhead::session
