// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/video_session.h"

#include <utility>

#include "core/application/frames/frame_selection.h"
#include "core/application/frames/given_index.h"
#include "core/application/session/damage_words.h"
#include "core/application/session/delivered_frame.h"
#include "core/application/session/failover.h"
#include "core/application/session/index_content.h"
#include "core/application/session/missing_frames.h"
#include "core/application/session/option_check.h"
#include "core/application/session/stream_settings.h"
#include "core/base/status_macros.h"

namespace bulkhead::session {

using Step = WorkerRecovery::Step;

Result<std::unique_ptr<VideoSession>> VideoSession::Open(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    const Source& source, VideoOptions options, const Limits& limits) {
  RETURN_IF_ERROR(CheckOptions(source.name(), options, limits));
  ASSIGN_OR_RETURN(worker_link::MediaInput input,
                   worker_link::MediaInput::Open(source));
  auto cancel = supervisor_link::CancelSignal::Of(options.cancellation);
  supervisor_link::SupervisorLink& link = *supervisor;
  ASSIGN_OR_RETURN(auto elsewhere, OptionsElsewhere(*supervisor, options));
  RETURN_IF_ERROR(supervisor->CheckShadowDevice());
  std::unique_ptr<VideoSession> session(new VideoSession(
      std::move(supervisor), std::move(input), std::move(options),
      std::move(elsewhere), limits, std::move(cancel)));
  RETURN_IF_ERROR(session->recovery_.Open());
  session->witness_.Accompany(ShadowFeed::Draw(
      link, session->recovery_.link().started(), session->input_,
      session->options_, session->metadata_, limits));
  return session;
}

VideoSession::VideoSession(
    std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
    worker_link::MediaInput input, VideoOptions options,
    std::optional<VideoOptions> elsewhere, const Limits& limits,
    std::shared_ptr<supervisor_link::CancelSignal> cancel)
    : input_(std::move(input)),
      limits_(limits),
      options_(std::move(options)),
      elsewhere_(std::move(elsewhere)),
      pools_(limits, options_.output_format == OutputFormat::kNative),
      recovery_(
          supervisor, input_,
          SettingsOf(supervisor, input_, options_, elsewhere_, limits, cancel),
          *this),
      witness_(elsewhere_.has_value(),
               [this](const Comparison& made) { recovery_.Compared(made); }),
      sequence_(damage_, witness_, options_.on_corrupt == OnCorrupt::kShow,
                limits.index_frames) {}

Result<bool> VideoSession::OpenOn(worker_link::WorkerLink& link,
                                  uint32_t incarnation) {
  const auto larger = [this, &link](const ipc::FrameGeometry& geometry) {
    auto pool = pools_.Larger(*link.pool(), geometry);
    if (pool) memory_.Replace(*pool);
    return pool;
  };
  video_.emplace(link, witness_.hasher(), larger);
  ASSIGN_OR_RETURN(VideoMetadata opened,
                   video_->Open(options_, incarnation, limits_, input_,
                                device_ ? &metadata_ : nullptr));
  // device_ is null until the first worker has opened the stream.
  if (!device_) {
    metadata_ = std::move(opened);
  } else if (!IsSame(opened)) {
    return false;
  }
  metadata_.backend = link.started().backend;
  if (!device_ || *device_ != link.started().device) {
    metadata_.device = link.started().device;
    device_ = std::make_shared<const std::string>(metadata_.device);
  }
  RETURN_IF_ERROR(
      memory_.GiveTo(link, [this] { return pools_.First(metadata_); }));
  return true;
}

bool VideoSession::IsSame(const VideoMetadata& opened) const {
  const bool native = options_.output_format == OutputFormat::kNative;
  return opened.width == metadata_.width && opened.height == metadata_.height &&
         opened.dtype == metadata_.dtype && opened.codec == metadata_.codec &&
         (!native || opened.pixel_format == metadata_.pixel_format) &&
         opened.stream_index == metadata_.stream_index;
}

void VideoSession::WorkerLost(bool kept) {
  video_.reset();
  pools_.WorkerLost();
  memory_.WorkerLost(kept);
}

void VideoSession::DeviceChanged() {
  options_ = *std::move(elsewhere_);
  elsewhere_.reset();
  witness_.ChangeDevice();
}

Result<FrameSequence::Event> VideoSession::NextOn(
    worker_link::VideoLink& video) {
  auto event = sequence_.Next(video);
  if (event && std::holds_alternative<worker_link::PublishedFrame>(*event)) {
    recovery_.Progressed();
  }
  // was_ahead() is a claim of the worker. It is not believed if the worker was
  // late (kDeadlineExceeded): it had enough time to convert the wanted frame.
  if (!event && event.error().code() == Code::kBackendLost &&
      video.was_ahead()) {
    recovery_.DiedAhead();
  }
  return event;
}

Status VideoSession::BeginCall() {
  if (video_) video_->BeginStep();
  return recovery_.BeginCall();
}

Result<std::optional<Frame>> VideoSession::Next() {
  while (!sequence_.ended()) {
    const uint64_t number = sequence_.next();
    auto event =
        recovery_.Run(Step::kNext, number, [this] { return NextOn(*video_); });
    if (!event) {
      if (event.error().code() != Code::kBadInput || input_.lost_bytes() == 0)
        return std::move(event).error();
      // The file has lost its end, so no further frame can come. Ends the
      // sequence: a caller that continues after errors must reach an end.
      sequence_.End();
      event = FrameSequence::Event(worker_link::EndOfStream{});
    }
    if (auto* published = std::get_if<worker_link::PublishedFrame>(&*event)) {
      witness_.Show(*published, number, metadata_.backend);
      return std::make_optional(MakeFrame(std::move(*published), number,
                                          metadata_, options_, device_));
    }
    if (std::holds_alternative<worker_link::EndOfStream>(*event)) {
      witness_.Ended(number);
      RETURN_IF_ERROR(CheckEnd(
          sequence_.frames(), index_is_whole_ ? &finder_->index() : nullptr,
          options_.on_corrupt, input_, metadata_, damage_));
    }
    const auto* damage = std::get_if<frames::Damage>(&*event);
    if (damage && options_.on_corrupt == OnCorrupt::kError) {
      return ErrorOf(*damage);
    }
  }
  return std::optional<Frame>();
}

Result<const frames::FrameIndex*> VideoSession::Index() {
  if (finder_) return &finder_->index();
  const bool approximate = options_.seek_mode == SeekMode::kApproximate;
  auto given = IndexWithoutScan(options_, metadata_, limits_.index_frames);
  if (!given) return given.error().WithContext(name());
  if (!*given) {
    ASSIGN_OR_RETURN(*given, ScanForIndex());
  }
  const bool shows_damaged = options_.on_corrupt == OnCorrupt::kShow;
  finder_.emplace(**std::move(given), damage_, shows_damaged,
                  [this] { return WhyMissing(input_); });
  if (approximate) {
    approximate_finder_.emplace(finder_->index(),
                                frames::AllowanceOf(metadata_), shows_damaged);
  } else {
    AddContent(finder_->index(), metadata_);
  }
  return &finder_->index();
}

Result<frames::FrameIndex> VideoSession::ScanOn(worker_link::VideoLink& video) {
  frames::FrameIndex index(limits_.index_frames);
  const Status status =
      video.Scan([&](std::span<const ipc::IndexEntry> entries_untrusted) {
        return index.Add(entries_untrusted);
      });
  if (status.ok()) return index;
  // If index.Add() has failed, at a limit of the index, the worker still sends.
  // Its replies would be taken for replies to the next request.
  if (!recovery_.link().dead()) recovery_.DropWorker();
  return status;
}

Result<frames::FrameIndex> VideoSession::ScanForIndex() {
  auto index = recovery_.Run(Step::kScan, [this] { return ScanOn(*video_); });
  if (!index) return NamingTheLoss(std::move(index).error(), input_);
  // Acquits the input, so that bulkheadd does not refuse the scan to other
  // sessions. Within this session, earlier deaths still count, since no frame
  // was delivered (Progressed()).
  recovery_.Acquit();
  index->Finish();
  index_is_whole_ = !AddUncounted(index->size(), input_, metadata_, damage_);
  if (index_is_whole_) return index;
  lost_frames_ = metadata_.frame_count_from_header.value_or(index->size() + 1) -
                 index->size();
  if (options_.on_corrupt == OnCorrupt::kError) return UncountedError(input_);
  return index;
}

Result<uint64_t> VideoSession::FrameCount() {
  ASSIGN_OR_RETURN(const frames::FrameIndex* index, Index());
  return uint64_t{index->size()} + lost_frames_;
}

Result<std::vector<int64_t>> VideoSession::KeyFrameIndices() {
  if (options_.seek_mode == SeekMode::kApproximate) {
    return Status(Code::kInvalidArgument,
                  name() +
                      " was opened with the seek_mode approximate, which finds "
                      "no keyframes; use exact");
  }
  ASSIGN_OR_RETURN(const frames::FrameIndex* index, Index());
  return std::vector<int64_t>(index->keyframes().begin(),
                              index->keyframes().end());
}

Result<const frames::FrameTimes*> VideoSession::Times() {
  if (times_) return &*times_;
  ASSIGN_OR_RETURN(const frames::FrameIndex* index, Index());
  auto times = frames::FrameTimes::Create(*index, metadata_.time_base,
                                          metadata_.average_frame_rate);
  if (!times) return std::move(times).error().WithContext(name());
  times_ = *std::move(times);
  return &*times_;
}

Result<Frame> VideoSession::FrameAt(int64_t index) {
  ASSIGN_OR_RETURN(const frames::FrameIndex* frames, Index());
  const auto from_start =
      frames::ResolveIndex(index, frames->size() + lost_frames_);
  if (!from_start) return from_start.error().WithContext(name());
  if (*from_start >= frames->size()) return LostFrameError(*from_start, input_);
  return Fetch(*from_start);
}

Result<SecondsRange> VideoSession::PlayedRange() {
  ASSIGN_OR_RETURN(const frames::FrameTimes* times, Times());
  return SecondsRange{times->begin(), times->end()};
}

Result<Frame> VideoSession::FramePlayedAt(double seconds) {
  ASSIGN_OR_RETURN(const frames::FrameTimes* times, Times());
  const auto index = times->PlayedAt(seconds);
  if (!index) return index.error().WithContext(name());
  return Fetch(*index);
}

Result<FrameFinder::Found> VideoSession::FindOn(worker_link::VideoLink& video,
                                                uint64_t index) {
  video.BeginStep();
  if (approximate_finder_) return approximate_finder_->Find(video, index);
  return options_.on_corrupt == OnCorrupt::kNearest
             ? finder_->FindNearest(video, index)
             : finder_->Find(video, index);
}

Result<VideoSession::FrameOrDamage> VideoSession::Find(uint64_t index) {
  const auto find = [this](uint64_t i) { return FindOn(*video_, i); };
  auto found = recovery_.Run(Step::kFrameAt, index, [&] {
    auto frame = witness_.FindCompared(find, index);
    if (frame && std::holds_alternative<FoundFrame>(*frame)) {
      recovery_.Progressed();
    }
    return frame;
  });
  if (!found) return NamingTheLoss(std::move(found).error(), input_);
  auto* const frame = std::get_if<FoundFrame>(&*found);
  if (!frame) return FrameOrDamage(std::get<frames::Damage>(*std::move(found)));
  witness_.Found(*frame, metadata_.backend);
  return FrameOrDamage(MakeFrame(std::move(frame->picture), frame->number,
                                 metadata_, options_, device_));
}

Result<Frame> VideoSession::Fetch(uint64_t index) {
  BeginFrames();
  ASSIGN_OR_RETURN(FrameOrDamage found, Find(index));
  FramesDelivered();
  if (auto* frame = std::get_if<Frame>(&found)) return std::move(*frame);
  return ErrorOf(std::get<frames::Damage>(found));
}

Status VideoSession::ErrorOf(const frames::Damage& damage) const {
  return DamagedError(damage, input_, metadata_, damage_);
}

std::vector<DamagedRange> VideoSession::damage() const {
  return damage_.Ranges(metadata_.time_base.value());
}

}  // namespace bulkhead::session
