// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/video_session.h"

#include <algorithm>
#include <type_traits>

#include "core/application/frames/given_index.h"
#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/worker_link/output_options.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/stream_timing.h"
#include "ipc/frame_geometry.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {
namespace {

// Frames of the record that a replay compares before it goes on. More would
// cost conversions and could not tell more: each frame depends on those before.
constexpr size_t kComparedFrames = 3;

// What the sequence shows of an event; nullopt: nothing.
std::optional<Damage> DamageOf(const PlayEvent& event) {
  if (const auto* published = std::get_if<PublishedFrame>(&event)) {
    if (!published->damaged) return std::nullopt;
    return Damage{.pts = published->pts,
                  .duration = published->duration,
                  .position = published->position};
  }
  const auto* unseen = std::get_if<UnseenFrame>(&event);
  if (!unseen || unseen->fate != UnseenFrame::Fate::kLost) return std::nullopt;
  return Damage{.pts = unseen->pts,
                .duration = unseen->duration,
                .position = unseen->position,
                .frames = unseen->count};
}

void LeaveOut(uint64_t index, FrameChoice& choice) {
  FrameChoice left{.duration_seconds = choice.duration_seconds};
  for (size_t i = 0; i < choice.indices.size(); ++i) {
    if (choice.indices[i] == index) continue;
    left.indices.push_back(choice.indices[i]);
    if (i < choice.pts_seconds.size()) {
      left.pts_seconds.push_back(choice.pts_seconds[i]);
    }
  }
  choice = std::move(left);
}

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
    return Status(
        Code::kInvalidArgument,
        "frame_mappings are an exact index; leave out frame_mappings, "
        "or the seek_mode approximate");
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
  while (!ended_) {
    recovery_.Want(delivered_.size());
    ASSIGN_OR_RETURN(Event event, WithRecovery(SessionEvent::kFrameAsked,
                                               [this] { return NextEvent(); }));
    if (auto* frame = std::get_if<Frame>(&event)) {
      return std::make_optional(std::move(*frame));
    }
    const auto* damage = std::get_if<Damage>(&event);
    if (damage && options_.on_corrupt == OnCorrupt::kError) {
      return DamagedError(*damage);
    }
  }
  return std::optional<Frame>();
}

Result<VideoSession::Event> VideoSession::NextEvent() {
  if (mode_ != Mode::kSequential) RETURN_IF_ERROR(ResumeSequential());
  for (;;) {
    ASSIGN_OR_RETURN(PlayEvent event, video_->Await());
    if (std::holds_alternative<EndOfStream>(event)) {
      ended_ = true;
      recovery_.Raise(SessionEvent::kEndOfStream);
      return Event(EndOfStream{});
    }
    auto* const published = std::get_if<PublishedFrame>(&event);
    std::optional<Damage> damage = DamageOf(event);
    if (!published && !damage) continue;
    const int64_t pts = published ? published->pts : damage->pts;
    if (pts == ipc::kNoTimestamp ||
        (!delivered_.empty() && pts <= delivered_.back().pts)) {
      delivered_ascend_ = false;
    }
    const uint64_t number = delivered_.size();
    delivered_.push_back({pts, published ? published->fingerprint : 0});
    if (!damage) {
      recovery_.Progressed();
      return Event(MakeFrame(std::move(*published), number));
    }
    if (damage->frames == 1) damage->frame = number;
    damage_.Add(*damage);
    return Event(*damage);
  }
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
    Stamp seen;
    if (const auto* published = std::get_if<PublishedFrame>(&event)) {
      seen = {published->pts, published->fingerprint};
    } else if (const auto* unseen = std::get_if<UnseenFrame>(&event)) {
      if (unseen->fate != UnseenFrame::Fate::kLost) continue;
      if (first > 0 && unseen->pts < delivered_[first].pts) continue;
      seen = {unseen->pts, 0};
    } else {
      return false;
    }
    // After a seek the first frame may be any of those that are compared.
    while (expected == first && first > 0 && first + 1 < delivered_.size() &&
           delivered_[first].pts < seen.pts) {
      expected = ++first;
    }
    if (delivered_[expected] != seen) return false;
    ++expected;
  }
  return true;
}

Status VideoSession::EnsureIndex() {
  if (finder_) return Status();
  ASSIGN_OR_RETURN(FrameIndex index, MakeIndex());
  finder_.emplace(std::move(index), damage_);
  if (options_.seek_mode == SeekMode::kApproximate) {
    nearby_.emplace(finder_->index(), AllowanceOf(metadata_));
  }
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
    return named(ApproximateIndexOf(metadata_, limits_.index_frames));
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
  const FrameIndex& index = finder_->index();
  metadata_.frame_count_from_content = index.size();
  if (index.timestamped() && index.size() > 0) {
    // As FrameTimes does, so that both are within PlayedRange().
    const auto seconds = [this](int64_t ticks) {
      return Seconds(ticks, metadata_.time_base);
    };
    metadata_.begin_seconds_from_content = seconds(index[0].pts);
    double end = seconds(index[0].pts);
    for (size_t i = 0; i < index.size(); ++i) {
      end = std::max(end, seconds(index[i].pts) + seconds(index[i].duration));
    }
    metadata_.end_seconds_from_content = end;
  }
  ChooseBest(metadata_, metadata_.average_fps, metadata_.duration_seconds);
}

Result<uint64_t> VideoSession::FrameCount() {
  RETURN_IF_ERROR(EnsureIndex());
  return uint64_t{finder_->index().size()};
}

Result<std::vector<int64_t>> VideoSession::KeyFrameIndices() {
  if (options_.seek_mode == SeekMode::kApproximate) {
    return Status(Code::kInvalidArgument,
                  input_.name() +
                      " was opened with the seek_mode approximate, which finds "
                      "no keyframes; use exact");
  }
  RETURN_IF_ERROR(EnsureIndex());
  return std::vector<int64_t>(finder_->index().keyframes().begin(),
                              finder_->index().keyframes().end());
}

Status VideoSession::EnsureTimes() {
  if (times_) return Status();
  RETURN_IF_ERROR(EnsureIndex());
  auto times = FrameTimes::Create(finder_->index(), metadata_.time_base,
                                  metadata_.average_frame_rate);
  if (!times) return std::move(times).error().WithContext(input_.name());
  times_ = *std::move(times);
  return Status();
}

Result<Frame> VideoSession::FrameAt(int64_t index) {
  RETURN_IF_ERROR(EnsureIndex());
  const auto from_start = ResolveIndex(index, finder_->index().size());
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

Result<FrameFinder::Found> VideoSession::FindOn(VideoLink& video,
                                                uint64_t index) {
  if (nearby_) return nearby_->Find(video, index);
  return options_.on_corrupt == OnCorrupt::kNearest
             ? finder_->FindNearest(video, index)
             : finder_->Find(video, index);
}

Result<Frame> VideoSession::Fetch(uint64_t index, bool* damaged) {
  recovery_.Want(index);
  const auto find = [&]() -> Result<FrameFinder::Found> {
    if (mode_ != Mode::kIndexed) {
      finder_->Forget();
      if (nearby_) nearby_->Forget();
    }
    mode_ = Mode::kIndexed;
    auto found = FindOn(*video_, index);
    if (found && std::holds_alternative<FoundFrame>(*found)) {
      recovery_.Progressed();
    }
    return found;
  };
  ASSIGN_OR_RETURN(auto found, WithRecovery(SessionEvent::kPlaceAsked, find));
  if (auto* frame = std::get_if<FoundFrame>(&found)) {
    return MakeFrame(std::move(frame->picture), frame->number);
  }
  if (damaged) *damaged = true;
  return DamagedError(std::get<Damage>(found));
}

Status VideoSession::DamagedError(const Damage& damage) const {
  std::string text = input_.name() + ": ";
  const bool timed = damage.pts != ipc::kNoTimestamp;
  if (damage.frames > 1) {
    text += std::to_string(damage.frames) + " packets yielded no frame";
  } else {
    text += damage.frame ? "frame " + std::to_string(*damage.frame) : "a frame";
    if (timed) {
      text += " at " +
              std::to_string(static_cast<double>(damage.pts) *
                             metadata_.time_base.value()) +
              " s";
    }
    if (damage.position >= 0) {
      text += ", byte " + std::to_string(damage.position) + " of the file,";
    }
    text += " is damaged";
  }
  return Status(Code::kBadInput,
                text +
                    "; read on after it, or set on_corrupt to skip or nearest "
                    "(--on-corrupt skip)");
}

std::vector<DamagedRange> VideoSession::damage() const {
  return damage_.Ranges(metadata_.time_base.value());
}

Result<FrameBatch> VideoSession::FramesAt(std::span<const int64_t> indices) {
  RETURN_IF_ERROR(EnsureIndex());
  return FetchBatch(ResolveIndices(indices, finder_->index().size()));
}

Result<FrameBatch> VideoSession::FramesInRange(int64_t start,
                                               std::optional<int64_t> stop,
                                               int64_t step) {
  RETURN_IF_ERROR(EnsureIndex());
  return FetchBatch(ResolveSlice(start, stop, step, finder_->index().size()));
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
                      " are too many; ask for fewer at once, or raise " +
                      ipc::LimitName("session_bytes"));
  }
  FrameChoice left = *choice;
  for (;;) {
    FrameBatch batch = EmptyBatch();
    bool damaged = false;
    uint64_t last = 0;
    const Status status = FetchInto(batch, left, [&](uint64_t index) {
      last = index;
      return Fetch(index, &damaged);
    });
    if (status.ok()) return batch;
    if (!damaged || options_.on_corrupt != OnCorrupt::kSkip) return status;
    LeaveOut(last, left);
  }
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
