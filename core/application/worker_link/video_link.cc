// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/video_link.h"

#include <cstring>
#include <utility>
#include <vector>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/worker_link/output_options.h"
#include "core/application/worker_link/slot_grants.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/allowed_media.h"
#include "core/worker_protocol/reply_validation.h"
#include "core/worker_protocol/step_deadline.h"
#include "core/worker_protocol/stream_index.h"

namespace bulkhead::worker_link {

namespace schema = ipc::schema;

Result<VideoMetadata> VideoLink::Open(const VideoOptions& options,
                                      uint32_t incarnation,
                                      const Limits& limits,
                                      const MediaInput& input,
                                      const VideoMetadata* known) {
  VideoMetadata metadata;
  RETURN_IF_ERROR(OpenStream(
      link_,
      {.kind = schema::StreamKind::VIDEO,
       .stream_index = options.stream_index,
       .stream_choice = options.stream_choice,
       .threads = options.threads,
       .backend_options = options.backend_options,
       .incarnation = incarnation,
       .name_hint = input.name_hint(),
       .media_bytes = input.bytes(),
       .limits = limits,
       .allowed = options.allowed},
      OutputWords(options),
      [&](schema::Open::Builder open) {
        open.setIgnoreErrors(
            supervisor_link::IgnoresErrors(options.on_corrupt));
        if (known) {
          open.setKnownWidth(known->upright_width);
          open.setKnownHeight(known->upright_height);
        }
        WriteOutput(options, known, open.initOutput());
      },
      [&](schema::Reply::Reader reply_untrusted) -> Status {
        if (!reply_untrusted.isOpened()) {
          return link_.Misbehaved("it answered open with something else");
        }
        auto validated = worker_protocol::ValidateOpened(
            reply_untrusted.getOpened(), limits);
        if (!validated) return link_.Misbehaved(validated.error().message());
        metadata = *std::move(validated);
        const Status asked = worker_protocol::CheckAskedStream(
            options.stream_index, metadata.stream_index);
        if (!asked.ok()) return link_.Misbehaved(asked.message());
        const Status allowed = worker_protocol::CheckOpened(
            options.allowed, metadata.container, metadata.codec);
        if (!allowed.ok()) return link_.Misbehaved(allowed.message());
        const Status output = AddOutputIfValid(reply_untrusted.getOpened(),
                                               options, limits, metadata);
        return output.ok() ? output : link_.Misbehaved(output.message());
      }));
  RETURN_IF_ERROR(pictures_.Open(options, limits, metadata));
  // A worker may decode one frame while it converts another, except if
  // - it replays: it must deliver the wanted frame before it decodes the next
  //   frame, which may have killed the previous worker;
  // - a position is known to kill workers: the session stops just before that
  //   frame, and the worker must not decode it ahead;
  // - damaged pictures are shown: parts that the decoder leaves unset show old
  //   content of the buffer, which depends on the timing;
  // - it asks for bytes of the media: it would write two replies at a time;
  // - pictures keep their sizes: the next may have to wait for larger slots.
  may_overlap_ = incarnation == 1 && link_.started().poisoned.empty() &&
                 options.on_corrupt == OnCorrupt::kError &&
                 pictures_.autoscale() && !pictures_.native() &&
                 !link_.serves_media();
  play_.Open(input.bytes(), limits.index_frames);
  metadata.backend = link_.started().backend;
  metadata.device = link_.started().device;
  return metadata;
}

Status VideoLink::Scan(
    const std::function<Status(std::span<const ipc::IndexEntry>)>&
        take_untrusted) {
  link_.SetLastRequest("scan");
  RETURN_IF_ERROR(
      link_.Send(worker_protocol::kSmallRequestWords,
                 [](schema::Request::Builder request) { request.setScan(); }));
  // The caller of a scan usually asks for a frame next, so the first slot is
  // allocated while the worker scans. If that fails, the next grant reports it.
  if (link_.pool()->allocated_count() == 0) (void)link_.pool()->Grow();
  play_.Stop();
  user_ = nullptr;
  worker_protocol::StepDeadline deadline = link_.Within(&Deadlines::scan);
  for (bool done = false; !done;) {
    RETURN_IF_ERROR(link_.Receive(
        deadline, "scan the file",
        [&](schema::Reply::Reader reply_untrusted) -> Status {
          if (reply_untrusted.isIndexEnd()) {
            done = true;
            return Status();
          }
          if (reply_untrusted.isFailed() &&
              reply_untrusted.getFailed().getEpoch() == 0) {
            return link_.FailureOf(reply_untrusted.getFailed());
          }
          if (!reply_untrusted.isIndexChunk()) {
            // Frames that the worker decoded ahead for an earlier play may
            // come first. Their slots must be recorded in the ledger.
            auto event = AdoptEventIfValid(reply_untrusted);
            return event ? Status() : std::move(event).error();
          }
          const auto bytes = reply_untrusted.getIndexChunk().getEntries();
          if (bytes.size() % sizeof(ipc::IndexEntry) != 0) {
            return link_.Misbehaved("its index is no whole number of entries");
          }
          std::vector<ipc::IndexEntry> entries(bytes.size() /
                                               sizeof(ipc::IndexEntry));
          if (entries.empty()) {
            return link_.Misbehaved("it sent an empty part of the index");
          }
          std::memcpy(entries.data(), bytes.begin(), bytes.size());
          link_.Renew(deadline, &Deadlines::scan);
          return take_untrusted(entries);
        }));
  }
  return Status();
}

void VideoLink::BeginStep() {
  deadline_.reset();
  play_.BeginStep();
}

Status VideoLink::Play(const void* user, const PlayRequest& play) {
  play_.Begin(play);
  user_ = user;
  link_.SetLastRequest(Describe(play));
  overlaps_ = play.in_turn && may_overlap_;
  met_frame_ = false;
  stalled_at_.reset();
  outgrown_by_.reset();
  pictures_.ForgetNeed();
  if (play.start != PlayRequest::Start::kOnward) {
    seeking_ = true;
    progressed_ = true;
  }
  return link_.Send(worker_protocol::kSmallRequestWords,
                    [&](schema::Request::Builder request) {
                      auto builder = request.initPlay();
                      builder.setEpoch(play_.epoch());
                      Write(play, builder);
                      builder.setOverlap(overlaps_);
                    });
}

Result<PlayEvent> VideoLink::Await() {
  const auto timeout = seeking_ ? &Deadlines::seek : &Deadlines::frame;
  if (deadline_) {
    // The time that the caller spent between two calls does not count.
    deadline_->Extend(worker_protocol::StepDeadline::Clock::now() - left_at_);
    if (progressed_) link_.Renew(*deadline_, timeout);
  } else {
    deadline_.emplace(link_.Within(timeout));
  }
  auto event = AwaitWithinDeadline();
  left_at_ = worker_protocol::StepDeadline::Clock::now();
  progressed_ = event && !std::holds_alternative<Paused>(*event);
  return event;
}

Result<PlayEvent> VideoLink::AwaitWithinDeadline() {
  for (;;) {
    if (auto unseen = play_.TakeUnseen()) return PlayEvent(*std::move(unseen));
    if (outgrown_by_) {
      RETURN_IF_ERROR(AttachLargerPool(*std::exchange(outgrown_by_, {})));
    }
    RETURN_IF_ERROR(GrantFree(link_, play_.frames_left()));
    if (stalled_at_) RETURN_IF_ERROR(GrantAnother(link_, *stalled_at_));
    std::optional<PlayEvent> event;
    RETURN_IF_ERROR(
        link_.Receive(*deadline_, "decode the next frame",
                      [&](schema::Reply::Reader reply_untrusted) -> Status {
                        auto adopted = AdoptEventIfValid(reply_untrusted);
                        if (!adopted) return std::move(adopted).error();
                        event = *std::move(adopted);
                        return Status();
                      }));
    if (!event) continue;  // the reply was no event, or had several frames
    seeking_ = false;
    return *std::move(event);
  }
}

Result<std::optional<PlayEvent>> VideoLink::AdoptEventIfValid(
    schema::Reply::Reader reply_untrusted) {
  using Event = std::optional<PlayEvent>;
  if (reply_untrusted.isSamples() || reply_untrusted.isSkipping() ||
      reply_untrusted.isLostSamples()) {
    return link_.Misbehaved("it sent audio for video");
  }
  ASSIGN_OR_RETURN(const bool current, play_.Owns(reply_untrusted));
  if (reply_untrusted.isFrame()) {
    // Adopts even a frame of an earlier play, since the ledger must record its
    // slot.
    ASSIGN_OR_RETURN(PublishedFrame frame,
                     pictures_.AdoptIfValid(reply_untrusted.getFrame()));
    if (!current) return Event();
    met_frame_ = true;
    RETURN_IF_ERROR(play_.CountIfValid(frame));
    return Event(std::move(frame));
  }
  if (!current) return Event();
  if (reply_untrusted.isNeedsSlot()) {
    if (!pictures_.native()) return link_.Misbehaved("it needs a slot for RGB");
    stalled_at_ = reply_untrusted.getNeedsSlot().getGrants();
    return Event();
  }
  if (reply_untrusted.isNeedsPool()) {
    ASSIGN_OR_RETURN(outgrown_by_, pictures_.AdoptNeedIfValid(
                                       reply_untrusted.getNeedsPool()));
    return Event();
  }
  if (reply_untrusted.isEntered()) {
    RETURN_IF_ERROR(play_.AdoptEntryIfValid(reply_untrusted.getEntered()));
    return Event();
  }
  if (reply_untrusted.isUnseen()) {
    // AwaitWithinDeadline() takes the frames of the report one by one.
    RETURN_IF_ERROR(play_.AdoptUnseenIfValid(reply_untrusted.getUnseen()));
    return Event();
  }
  // Only failed, endOfStream and paused are left, and each ends the play.
  play_.Stop();
  if (reply_untrusted.isFailed()) {
    return link_.FailureOf(reply_untrusted.getFailed());
  }
  if (reply_untrusted.isEndOfStream()) return Event(EndOfStream{});
  if (play_.frames_left() > 0) {
    return link_.Misbehaved("it paused before it was done");
  }
  return Event(Paused{});
}

bool VideoLink::was_ahead() const {
  return link_.dead() && overlaps_ && met_frame_ &&
         link_.decoded_untrusted() - pictures_.count() == 1;
}

Status VideoLink::AttachLargerPool(const ipc::FrameGeometry& geometry) {
  ASSIGN_OR_RETURN(auto pool, make_larger_pool_(geometry));
  RETURN_IF_ERROR(link_.AttachPool(std::move(pool)));
  // A new pool counts as progress. A worker cannot get many pools, since their
  // total size is limited (VideoPools::Larger).
  link_.Renew(*deadline_, seeking_ ? &Deadlines::seek : &Deadlines::frame);
  return Status();
}

}  // namespace bulkhead::worker_link
