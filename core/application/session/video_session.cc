// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/video_session.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/application/frames/given_index.h"
#include "core/application/session/cut_off.h"
#include "core/application/session/failover.h"
#include "core/application/worker_link/output_options.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/native_format.h"
#include "core/worker_protocol/stream_opening.h"
#include "core/worker_protocol/stream_timing.h"
#include "ipc/frame_geometry.h"
#include "ipc/limit_name.h"

namespace bulkhead::session {
namespace {

// What libavcodec's slice and frame threads can have.
constexpr uint32_t kMostThreads = 64;
// Slots of native pictures besides those for the application, since the decoder
// goes on to refer to them.
constexpr uint32_t kSlotsOfDecoders = 8;
constexpr uint64_t kPageBytes = 4096;  // of which slots are multiples

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
  if (options.threads > kMostThreads) {
    return Status(Code::kInvalidArgument,
                  "threads (--threads) is " + std::to_string(options.threads) +
                      "; it must be from 0 to " + std::to_string(kMostThreads));
  }
  RETURN_IF_ERROR(ValidateOutput(options, limits));
  RETURN_IF_ERROR(ValidateBackendOptions(options.backend_options));
  if (options.seek_mode == SeekMode::kApproximate &&
      !options.frame_mappings.empty()) {
    return Status(
        Code::kInvalidArgument,
        "frame_mappings are an exact index; leave out frame_mappings, "
        "or the seek_mode approximate");
  }
  ASSIGN_OR_RETURN(MediaInput input, MediaInput::Open(source));
  auto cancel = CancelSignal::Of(options.cancellation);
  SupervisorLink& link = *supervisor;
  ASSIGN_OR_RETURN(auto elsewhere, OptionsElsewhere(*supervisor, options));
  RETURN_IF_ERROR(supervisor->CheckShadowDevice());
  std::unique_ptr<VideoSession> session(new VideoSession(
      std::move(supervisor), std::move(input), std::move(options),
      std::move(elsewhere), limits, std::move(cancel)));
  RETURN_IF_ERROR(session->OpenFirst());
  session->shadow_ = ShadowFeed::Draw(link, session->worker().link().started(),
                                      session->input(), session->options_,
                                      session->metadata_, limits);
  return session;
}

VideoSession::VideoSession(std::shared_ptr<SupervisorLink> supervisor,
                           MediaInput input, VideoOptions options,
                           std::optional<VideoOptions> elsewhere,
                           const Limits& limits,
                           std::shared_ptr<CancelSignal> cancel)
    : StreamSession(supervisor, std::move(input), options, elsewhere, limits,
                    cancel),
      options_(std::move(options)),
      elsewhere_(std::move(elsewhere)),
      sequence_(damage_, options_.on_corrupt == OnCorrupt::kShow,
                limits.index_frames) {
  if (elsewhere_) hasher_ = PictureHasher::WithRandomKey();
}

Result<bool> VideoSession::OpenStream(WorkerLink& link, uint32_t incarnation) {
  video_.emplace(link, hasher_ ? &*hasher_ : nullptr,
                 [this, &link](const ipc::FrameGeometry& geometry) {
                   return LargerPool(*link.pool(), geometry);
                 });
  ASSIGN_OR_RETURN(VideoMetadata opened,
                   video_->Open(options_, incarnation, limits(), input(),
                                device_ ? &metadata_ : nullptr));
  if (!device_) {
    metadata_ = std::move(opened);
  } else if (opened.width != metadata_.width ||
             opened.height != metadata_.height ||
             opened.dtype != metadata_.dtype ||
             opened.codec != metadata_.codec ||
             (native() && opened.pixel_format != metadata_.pixel_format) ||
             opened.stream_index != metadata_.stream_index) {
    return false;
  }
  if (!device_ || *device_ != opened.device) {
    metadata_.backend = link.started().backend;
    metadata_.device = link.started().device;
    device_ = std::make_shared<const std::string>(metadata_.device);
  }
  return true;
}

Result<std::shared_ptr<FramePool>> VideoSession::MakePool() const {
  if (native()) {
    ASSIGN_OR_RETURN(
        const auto format,
        NativeFormat::Create(metadata_.pixel_format, metadata_.width,
                             metadata_.height, limits().frame_pixels));
    return FramePool::Create(format->geometry, MostSlots(),
                             limits().session_bytes,
                             FramePool::Slots::kGrowing);
  }
  ASSIGN_OR_RETURN(const ipc::FrameGeometry geometry,
                   FromIpc(ipc::RgbGeometry(metadata_.width, metadata_.height,
                                            limits().frame_pixels,
                                            ElementOf(metadata_.dtype))));
  return FramePool::Create(geometry, MostSlots(), limits().session_bytes,
                           FramePool::Slots::kGrowing);
}

uint32_t VideoSession::MostSlots() const {
  return limits().frame_slots + (native() ? kSlotsOfDecoders : 0);
}

Result<std::shared_ptr<FramePool>> VideoSession::LargerPool(
    const FramePool& present, const ipc::FrameGeometry& geometry) {
  // A worker may keep every pool that it got mapped, so all of them count until
  // it has ended.
  const uint64_t given =
      outgrown_bytes_ + present.slot_count() * present.slot_bytes();
  const uint64_t left =
      limits().session_bytes - std::min(given, limits().session_bytes);
  const std::string frames = "frames of " + std::to_string(geometry.width) +
                             "x" + std::to_string(geometry.height);
  if (left / geometry.bytes < 2) {
    return Status(
        Code::kResourceExhausted,
        "two " + frames + " need " + std::to_string(2 * geometry.bytes) +
            " bytes, and smaller frames before had " + std::to_string(given) +
            " of the session's " + std::to_string(limits().session_bytes) +
            "; raise " + ipc::LimitName("session_bytes"));
  }
  // Slots twice as large as before, where that costs little, keep a stream that
  // grows by a few rows again and again from needing as many pools.
  const uint64_t cheap =
      std::min(2 * present.slot_bytes(), left / (uint64_t{2} * MostSlots()));
  ASSIGN_OR_RETURN(
      auto pool,
      FramePool::Create(std::max(geometry.bytes, cheap - cheap % kPageBytes),
                        frames, MostSlots(), left, FramePool::Slots::kGrowing));
  outgrown_bytes_ = given;
  ReplacePool(pool);
  return pool;
}

void VideoSession::LinkLost() {
  video_.reset();
  outgrown_bytes_ = 0;
  ForgetPlay();
}

void VideoSession::OptionsChanged() {
  options_ = *std::move(elsewhere_);
  elsewhere_.reset();
  sequence_.ChangeDevice();
  found_.ChangeDevice();
}

void VideoSession::ForgetPlay() {
  sequence_.Forget();
  if (finder_) finder_->Forget();
  if (nearby_) nearby_->Forget();
}

template <typename Call>
auto VideoSession::WithRecovery(WorkerRecovery::Step asked, const Call& step)
    -> decltype(step()) {
  auto result = worker().Run(asked, step);
  bool done;
  if constexpr (std::is_same_v<decltype(result), Status>) {
    done = result.ok();
  } else {
    done = bool{result};
  }
  if (done) return result;
  ForgetPlay();
  Status failure;
  if constexpr (std::is_same_v<decltype(result), Status>) {
    failure = std::move(result);
  } else {
    failure = std::move(result).error();
  }
  // Whatever a worker says of such a file, that explains it.
  if (failure.code() == Code::kBadInput && input().lost_bytes() > 0) {
    return Status(
        failure.code(),
        failure.message() + Shortened(input().bytes(), input().lost_bytes()));
  }
  return failure;
}

Result<std::optional<Frame>> VideoSession::Next() {
  using Event = FrameSequence::Event;
  if (video_) video_->BeginStep();
  while (!sequence_.ended()) {
    const uint64_t number = sequence_.next();
    worker().Want(number);
    const auto next = [this]() -> Result<Event> {
      // The worker's play serves the sequence from here on.
      if (finder_) finder_->Forget();
      if (nearby_) nearby_->Forget();
      auto event = sequence_.Next(*video_);
      worker().Compared(sequence_.TakeComparison());
      if (event && std::holds_alternative<PublishedFrame>(*event)) {
        worker().Progressed();
      }
      // A worker that was killed for being late had all that time to convert.
      if (!event && event.error().code() == Code::kBackendLost &&
          video_->was_ahead()) {
        worker().DiedAhead();
      }
      return event;
    };
    Result<Event> event = WithRecovery(WorkerRecovery::Step::kNext, next);
    if (!event) {
      if (event.error().code() != Code::kBadInput || input().lost_bytes() == 0)
        return std::move(event).error();
      // What is left of the file is no such stream. The pass ends here, or a
      // caller who reads on after an error would never come to an end.
      sequence_.End();
      event = Event(EndOfStream{});
    }
    if (auto* published = std::get_if<PublishedFrame>(&*event)) {
      if (shadow_) {
        shadow_->Show(worker().link_if_any(), *published, number,
                      /*in_order=*/true);
      }
      return std::make_optional(MakeFrame(std::move(*published), number));
    }
    if (std::holds_alternative<EndOfStream>(*event)) {
      if (shadow_) shadow_->End(number);
      RETURN_IF_ERROR(CheckEnd());
    }
    const auto* damage = std::get_if<Damage>(&*event);
    if (damage && options_.on_corrupt == OnCorrupt::kError) {
      return DamagedError(*damage);
    }
  }
  return std::optional<Frame>();
}

void VideoSession::Rewind() {
  sequence_.Rewind();
  ForgetPlay();
}

Status VideoSession::EnsureIndex() {
  if (finder_) return Status();
  ASSIGN_OR_RETURN(FrameIndex index, MakeIndex());
  const bool shows_damaged = options_.on_corrupt == OnCorrupt::kShow;
  finder_.emplace(std::move(index), damage_, shows_damaged,
                  [this] { return WhyMissing(); });
  if (options_.seek_mode == SeekMode::kApproximate) {
    nearby_.emplace(finder_->index(), AllowanceOf(metadata_), shows_damaged);
  }
  TellContent();
  return Status();
}

Result<FrameIndex> VideoSession::MakeIndex() {
  const auto named = [this](Result<FrameIndex> made) {
    return made ? std::move(made)
                : Result<FrameIndex>(made.error().WithContext(input().name()));
  };
  if (!options_.frame_mappings.empty()) {
    return named(IndexOf(options_.frame_mappings, limits().index_frames));
  }
  if (options_.seek_mode == SeekMode::kApproximate) {
    return named(ApproximateIndexOf(metadata_, limits().index_frames));
  }
  return ScanForIndex();
}

Result<FrameIndex> VideoSession::ScanForIndex() {
  FrameIndex index(limits().index_frames);
  const auto scan = [&]() -> Status {
    // An earlier attempt may have added a part of the index before its worker
    // died; a scan always begins at the beginning.
    index = FrameIndex(limits().index_frames);
    ForgetPlay();
    const Status status =
        video_->Scan([&](std::span<const ipc::IndexEntry> entries_untrusted) {
          return index.Add(entries_untrusted);
        });
    // A scan fails on this side too, at a limit of the index, and then the
    // worker goes on sending: its replies would be taken for those of the next
    // request.
    if (!status.ok() && !worker().link().dead()) worker().DropWorker();
    return status;
  };
  RETURN_IF_ERROR(WithRecovery(WorkerRecovery::Step::kScan, scan));
  // A complete index is not a delivered frame, so earlier deaths still count
  // for this session. But the input is acquitted, so that bulkheadd does not
  // refuse the scan to other sessions.
  worker().Acquit();
  index.Finish();
  index_is_whole_ = !AddUncounted(index.size());
  if (!index_is_whole_) {
    lost_frames_ =
        metadata_.frame_count_from_header.value_or(index.size() + 1) -
        index.size();
  }
  if (index_is_whole_) return index;
  if (options_.on_corrupt != OnCorrupt::kError) return index;
  return Status(Code::kBadInput,
                input().name() + ": its frames cannot be counted" +
                    Shortened(input().bytes(), input().lost_bytes()) +
                    "; open it again, or set on_corrupt to skip or nearest "
                    "(--on-corrupt skip)");
}

void VideoSession::TellContent() {
  if (options_.seek_mode == SeekMode::kApproximate) return;
  const FrameIndex& index = finder_->index();
  metadata_.frame_count_from_content = index.size();
  if (index.has_times() && index.size() > 0) {
    // Computed as FrameTimes does, so that the times agree with PlayedRange().
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
  return uint64_t{finder_->index().size()} + lost_frames_;
}

Result<std::vector<int64_t>> VideoSession::KeyFrameIndices() {
  if (options_.seek_mode == SeekMode::kApproximate) {
    return Status(Code::kInvalidArgument,
                  input().name() +
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
  if (!times) return std::move(times).error().WithContext(input().name());
  times_ = *std::move(times);
  return Status();
}

Result<Frame> VideoSession::FrameAt(int64_t index) {
  RETURN_IF_ERROR(EnsureIndex());
  const uint64_t size = finder_->index().size();
  const auto from_start = ResolveIndex(index, size + lost_frames_);
  if (!from_start) return from_start.error().WithContext(input().name());
  if (*from_start >= size) {
    return Status(Code::kBadInput,
                  input().name() + ": frame " + std::to_string(*from_start) +
                      " is missing" +
                      Shortened(input().bytes(), input().lost_bytes()));
  }
  return Fetch(*from_start);
}

Result<SecondsRange> VideoSession::PlayedRange() {
  RETURN_IF_ERROR(EnsureTimes());
  return SecondsRange{times_->begin(), times_->end()};
}

Result<Frame> VideoSession::FramePlayedAt(double seconds) {
  RETURN_IF_ERROR(EnsureTimes());
  const auto index = times_->PlayedAt(seconds);
  if (!index) return index.error().WithContext(input().name());
  return Fetch(*index);
}

Result<FrameFinder::Found> VideoSession::FindOn(VideoLink& video,
                                                uint64_t index) {
  if (nearby_) return nearby_->Find(video, index);
  return options_.on_corrupt == OnCorrupt::kNearest
             ? finder_->FindNearest(video, index)
             : finder_->Find(video, index);
}

Result<VideoSession::FrameOrDamage> VideoSession::Find(uint64_t index) {
  if (video_) video_->BeginStep();
  worker().Want(index);
  const auto find = [&]() -> Result<FrameFinder::Found> {
    // The worker's play serves the finder from here on.
    sequence_.Forget();
    ASSIGN_OR_RETURN(const auto comparison, found_.Compare([&](uint64_t i) {
      video_->BeginStep();
      return FindOn(*video_, i);
    }));
    worker().Compared(comparison);
    if (comparison) video_->BeginStep();
    auto found = FindOn(*video_, index);
    if (!found) return found;
    if (const auto* frame = std::get_if<FoundFrame>(&*found)) {
      if (elsewhere_) found_.Add(*frame);
      worker().Progressed();
    }
    return found;
  };
  ASSIGN_OR_RETURN(auto found,
                   WithRecovery(WorkerRecovery::Step::kFrameAt, find));
  if (auto* frame = std::get_if<FoundFrame>(&found)) {
    if (shadow_) {
      shadow_->Show(worker().link_if_any(), frame->picture, frame->number,
                    /*in_order=*/false);
    }
    return FrameOrDamage(MakeFrame(std::move(frame->picture), frame->number));
  }
  return FrameOrDamage(std::get<Damage>(found));
}

Result<Frame> VideoSession::Fetch(uint64_t index) {
  found_.Begin();
  ASSIGN_OR_RETURN(FrameOrDamage found, Find(index));
  found_.Delivered();
  if (auto* frame = std::get_if<Frame>(&found)) return std::move(*frame);
  return DamagedError(std::get<Damage>(found));
}

std::vector<DamagedRange> VideoSession::damage() const {
  return damage_.Ranges(metadata_.time_base.value());
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
                 .keyframe = published.keyframe,
                 .damaged = published.damaged,
                 .format = options_.output_format,
                 .color = published.facts.color,
                 .field_order = published.facts.field_order};
  if (published.pts != ipc::kNoTimestamp) {
    info.pts = published.pts;
    info.pts_seconds = Seconds(published.pts, metadata_.time_base);
  }
  info.duration_seconds = Seconds(published.duration, metadata_.time_base);
  return Frame(std::move(published.lease), info, device_,
               std::move(published.native));
}

}  // namespace bulkhead::session
