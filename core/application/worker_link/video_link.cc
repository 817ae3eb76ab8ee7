// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/video_link.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/worker_link/output_options.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/allowed_media.h"
#include "core/worker_protocol/native_format.h"
#include "core/worker_protocol/reply_validation.h"
#include "core/worker_protocol/step_deadline.h"
#include "core/worker_protocol/stream_index.h"
#include "ipc/frame_geometry.h"
#include "ipc/limit_name.h"

namespace bulkhead::worker_link {
namespace {

namespace schema = ipc::schema;

std::string Describe(const PlayRequest& play) {
  std::string text = "play on";
  if (play.start == PlayRequest::Start::kBeginning) {
    text = "play from the beginning";
  } else if (play.start == PlayRequest::Start::kKeyframe) {
    text = "play from the keyframe at or before timestamp " +
           std::to_string(play.keyframe_before);
  } else if (play.start == PlayRequest::Start::kPacket) {
    text =
        "play from the packet with timestamp " + std::to_string(play.entry.pts);
  }
  if (play.skip_before != INT64_MIN) {
    text += ", show from timestamp " + std::to_string(play.skip_before);
  }
  return text;
}

// Returns the hash of the bytes of a picture, without the padding.
uint64_t HashPicture(const PictureHasher& hasher, const std::byte* slot,
                     const worker_protocol::PictureShape& shape,
                     uint32_t stride) {
  if (!shape.native) {
    return hasher(slot, shape.width, shape.height,
                  size_t{shape.width} * ipc::BytesPerPixel(shape.element),
                  stride);
  }
  const ipc::FrameGeometry& geometry = shape.native->geometry;
  std::array<uint64_t, ipc::kMostPlanes> hashes = {};
  for (size_t i = 0; i < geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = geometry.planes[i];
    hashes[i] = hasher(slot + plane.offset, shape.width, plane.rows,
                       plane.row_bytes, plane.stride);
  }
  return hasher(reinterpret_cast<const std::byte*>(hashes.data()), shape.width,
                1, sizeof hashes, sizeof hashes);
}

}  // namespace

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
  autoscale_ = options.autoscale;
  max_pixels_ = limits.frame_pixels;
  shape_ = {.width = metadata.width,
            .height = metadata.height,
            .element = ElementOf(metadata.dtype)};
  if (options.output_format == OutputFormat::kNative) {
    auto native = worker_protocol::NativeFormat::Create(
        metadata.pixel_format, metadata.width, metadata.height, max_pixels_);
    if (!native) return link_.Misbehaved(native.error().message());
    shape_.native = *std::move(native);
  }
  // Five things speak against it. A worker that replays must get beyond the
  // frame that ended the one before. At a position that is known to kill
  // workers, the session gives up between two frames, before a worker is lost.
  // What a decoder leaves unfilled of a damaged picture shows the buffer that
  // it got, which depends on when it gets the others back. A worker that asks
  // for bytes while it decodes would write two replies at a time. And a picture
  // of another size may have to wait for larger slots.
  may_overlap_ = incarnation == 1 && link_.started().poisoned.empty() &&
                 options.on_corrupt == OnCorrupt::kError && autoscale_ &&
                 !shape_.native && !link_.serves_media();
  max_passed_ = limits.index_frames;
  media_bytes_ = input.bytes();
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
  // Whoever asks for the index will ask for a frame next.
  link_.AllocateFirstSlot();
  play_.playing = false;
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
            // Frames that were decoded ahead for an earlier play may come
            // first. Adopting them records their slots in the ledger.
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
  passed_left_ = max_passed_;
}

Status VideoLink::Play(const void* user, const PlayRequest& play) {
  play_ = {.epoch = play_.epoch + 1, .playing = true};
  user_ = user;
  link_.SetLastRequest(Describe(play));
  frames_left_ = play.max_frames;
  skip_before_ = play.skip_before;
  overlaps_ = play.in_turn && may_overlap_;
  met_frame_ = false;
  stalled_at_.reset();
  outgrown_by_.reset();
  asked_for_pool_ = false;
  unseen_.clear();
  if (play.start != PlayRequest::Start::kOnward) {
    seeking_ = true;
    entering_ = true;
    to_beginning_ = play.start == PlayRequest::Start::kBeginning;
    to_packet_.reset();
    if (play.start == PlayRequest::Start::kPacket) to_packet_ = play.entry.pts;
    passed_left_ = max_passed_;
    progressed_ = true;
  }
  return link_.Send(worker_protocol::kSmallRequestWords,
                    [&](schema::Request::Builder request) {
                      auto builder = request.initPlay();
                      builder.setEpoch(play_.epoch);
                      switch (play.start) {
                        case PlayRequest::Start::kOnward:
                          builder.getStart().setOnward();
                          break;
                        case PlayRequest::Start::kBeginning:
                          builder.getStart().setBeginning();
                          break;
                        case PlayRequest::Start::kKeyframe:
                          builder.getStart().setKeyframe(play.keyframe_before);
                          break;
                        case PlayRequest::Start::kPacket: {
                          auto packet = builder.getStart().initPacket();
                          packet.setTimestamp(play.entry.pts);
                          packet.setPosition(play.entry.position);
                          packet.setCheck(play.entry.check);
                          break;
                        }
                      }
                      builder.setSkipBefore(play.skip_before);
                      builder.setMaxFrames(play.max_frames);
                      builder.setOverlap(overlaps_);
                    });
}

Result<PlayEvent> VideoLink::Await() {
  const auto timeout = seeking_ ? &Deadlines::seek : &Deadlines::frame;
  if (deadline_) {
    // What the caller does between two calls takes no time from the worker.
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
    if (!unseen_.empty()) {
      PlayEvent event(std::move(unseen_.front()));
      unseen_.pop_front();
      return event;
    }
    if (outgrown_by_) {
      RETURN_IF_ERROR(AttachLargerPool(*std::exchange(outgrown_by_, {})));
    }
    RETURN_IF_ERROR(link_.GrantFreeSlots(frames_left_));
    if (stalled_at_) RETURN_IF_ERROR(link_.GrantAnotherSlot(*stalled_at_));
    std::optional<PlayEvent> event;
    RETURN_IF_ERROR(
        link_.Receive(*deadline_, "decode the next frame",
                      [&](schema::Reply::Reader reply_untrusted) -> Status {
                        auto adopted = AdoptEventIfValid(reply_untrusted);
                        if (!adopted) return std::move(adopted).error();
                        event = *std::move(adopted);
                        return Status();
                      }));
    if (!event) continue;
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
  ASSIGN_OR_RETURN(const bool current, IsOf(play_, link_, reply_untrusted));
  // A worker may fail, or wait for a slot, before it knows where it begins.
  if (current && entering_ && !reply_untrusted.isEntered() &&
      !reply_untrusted.isNeedsSlot() && !reply_untrusted.isFailed()) {
    return link_.Misbehaved("it did not say where it began");
  }
  if (reply_untrusted.isFrame()) {
    ASSIGN_OR_RETURN(PublishedFrame frame,
                     AdoptFrameIfValid(reply_untrusted.getFrame()));
    if (!current) return Event();
    met_frame_ = true;
    if (frames_left_-- == 0 ||
        (frame.pts != ipc::kNoTimestamp && frame.pts < skip_before_)) {
      return link_.Misbehaved("it published a frame that was to be left out");
    }
    const bool out_of_time =
        frame.pts == ipc::kNoTimestamp && skip_before_ != INT64_MIN;
    if (frame.damaged || out_of_time) RETURN_IF_ERROR(CountPassed(1));
    return Event(std::move(frame));
  }
  if (!current) return Event();
  if (reply_untrusted.isNeedsSlot()) {
    if (!shape_.native) return link_.Misbehaved("it needs a slot for RGB");
    stalled_at_ = reply_untrusted.getNeedsSlot().getGrants();
    return Event();
  }
  if (reply_untrusted.isNeedsPool()) {
    RETURN_IF_ERROR(AdoptNeedIfValid(reply_untrusted.getNeedsPool()));
    return Event();
  }
  if (reply_untrusted.isEntered()) {
    RETURN_IF_ERROR(AdoptEntryIfValid(reply_untrusted.getEntered()));
    return Event();
  }
  if (reply_untrusted.isUnseen()) {
    RETURN_IF_ERROR(AdoptUnseenIfValid(reply_untrusted.getUnseen()));
    return Event();
  }
  play_.playing = false;
  if (reply_untrusted.isFailed()) {
    return link_.FailureOf(reply_untrusted.getFailed());
  }
  if (reply_untrusted.isEndOfStream()) return Event(EndOfStream{});
  if (frames_left_ > 0) return link_.Misbehaved("it paused before it was done");
  return Event(Paused{});
}

Result<PublishedFrame> VideoLink::AdoptFrameIfValid(
    schema::PublishedFrame::Reader frame_untrusted) {
  if (!autoscale_) {
    auto shape = worker_protocol::OwnShapeIfValid(
        frame_untrusted.getWidth(), frame_untrusted.getHeight(),
        frame_untrusted.getPixelFormat().cStr(), shape_, max_pixels_);
    if (!shape) return link_.Misbehaved(shape.error().message());
    shape_ = *std::move(shape);
    asked_for_pool_ = false;
  }
  // A frame of an earlier play occupies a slot as well, so the ledger must
  // record the frame before it is dropped.
  auto lease = worker_protocol::AdoptPictureIfValid(frame_untrusted, shape_,
                                                    link_.pool());
  if (!lease) return link_.Misbehaved(lease.error().message());
  ++frames_;
  auto sign = ipc::DamageSign::kUnknown;
  if (frame_untrusted.getDamaged()) {
    const auto told = worker_protocol::SignIfKnown(frame_untrusted.getSign());
    if (!told || ipc::IsNote(*told)) {
      return link_.Misbehaved("it reported damage of no known sign");
    }
    sign = *told;
  }
  const uint64_t fingerprint =
      FingerprintOf(frame_untrusted, (*lease)->pixels());
  worker_protocol::PictureFacts facts;
  if (shape_.native) {
    auto told = worker_protocol::ValidateFacts(frame_untrusted.getFacts());
    if (!told) return link_.Misbehaved(told.error().message());
    facts = *told;
  }
  return PublishedFrame{.lease = *std::move(lease),
                        .width = shape_.width,
                        .height = shape_.height,
                        .stride = frame_untrusted.getStride(),
                        .pts = frame_untrusted.getPts(),
                        .duration = frame_untrusted.getDuration(),
                        .keyframe = frame_untrusted.getKeyframe(),
                        .fingerprint = fingerprint,
                        .damaged = frame_untrusted.getDamaged(),
                        .sign = sign,
                        .position = frame_untrusted.getPosition(),
                        .check = frame_untrusted.getCheck(),
                        .native = shape_.native,
                        .facts = facts};
}

bool VideoLink::was_ahead() const {
  return link_.dead() && overlaps_ && met_frame_ &&
         link_.decoded_untrusted() - frames_ == 1;
}

uint64_t VideoLink::FingerprintOf(
    schema::PublishedFrame::Reader frame_untrusted,
    const std::byte* slot) const {
  const uint64_t print =
      hasher_ ? HashPicture(*hasher_, slot, shape_, frame_untrusted.getStride())
              : frame_untrusted.getFingerprint();
  if (autoscale_) return print;
  // A worker that replaces another has to repeat the shapes too.
  std::string shape =
      std::to_string(shape_.width) + "x" + std::to_string(shape_.height);
  if (shape_.native) shape += shape_.native->pixel_format;
  return print ^ std::hash<std::string>()(shape);
}

Status VideoLink::AdoptNeedIfValid(schema::NeedsPool::Reader needs_untrusted) {
  if (autoscale_ || std::exchange(asked_for_pool_, true)) {
    return link_.Misbehaved("it asked for larger slots that it cannot need");
  }
  const auto shape = worker_protocol::OwnShapeIfValid(
      needs_untrusted.getWidth(), needs_untrusted.getHeight(),
      needs_untrusted.getPixelFormat().cStr(), shape_, max_pixels_);
  if (!shape) return link_.Misbehaved(shape.error().message());
  ASSIGN_OR_RETURN(outgrown_by_,
                   worker_protocol::GeometryOf(*shape, max_pixels_));
  if (outgrown_by_->bytes <= link_.pool()->slot_bytes()) {
    return link_.Misbehaved("it asked for larger slots that it cannot need");
  }
  return Status();
}

Status VideoLink::AttachLargerPool(const ipc::FrameGeometry& geometry) {
  ASSIGN_OR_RETURN(auto pool, make_larger_pool_(geometry));
  RETURN_IF_ERROR(link_.AttachPool(std::move(pool)));
  // A new pool is progress; how often there is one, the size of the pools
  // bounds (VideoPools::Larger).
  link_.Renew(*deadline_, seeking_ ? &Deadlines::seek : &Deadlines::frame);
  return Status();
}

Status VideoLink::AdoptEntryIfValid(schema::Entered::Reader entered_untrusted) {
  if (!entering_) return link_.Misbehaved("it began where it was to go on");
  entering_ = false;
  entry_untrusted_.reset();
  if (entered_untrusted.isKeyframe()) {
    entry_untrusted_ = entered_untrusted.getKeyframe();
    if (to_beginning_ || (to_packet_ && *to_packet_ != *entry_untrusted_)) {
      return link_.Misbehaved("it began at another place");
    }
  }
  return Status();
}

Status VideoLink::AdoptUnseenIfValid(schema::Unseen::Reader unseen_untrusted) {
  using Fate = UnseenFrame::Fate;
  const std::string words =
      worker_protocol::CleanWords(unseen_untrusted.getWords());
  for (const auto frame_untrusted : unseen_untrusted.getFrames()) {
    auto frame = ValidateUnseen(frame_untrusted, skip_before_, media_bytes_);
    if (!frame) return link_.Misbehaved(frame.error().message());
    frames::Damage& damage = frame->damage;
    if (frame->fate == Fate::kLost ||
        damage.sign == ipc::DamageSign::kStopped) {
      damage.words = words;
    }
    damage.silent = frame->fate == Fate::kLost && damage.words.empty() &&
                    (damage.sign == ipc::DamageSign::kNoPicture ||
                     damage.sign == ipc::DamageSign::kUnknown);
    // The number of frames in a gap is an estimate, and a note stands for none;
    // the host has to remember them all the same.
    const bool is_frame =
        frame->fate != Fate::kNotInIndex && frame->fate != Fate::kNote;
    RETURN_IF_ERROR(CountPassed(is_frame ? damage.packets : 1));
    unseen_.push_back(*std::move(frame));
  }
  return Status();
}

Status VideoLink::CountPassed(uint64_t frames) {
  // The file may be to blame as well: a file of a few bytes can have any number
  // of frames.
  if (frames > passed_left_) {
    return Status(Code::kResourceExhausted,
                  "there are more than " + std::to_string(max_passed_) +
                      " frames before the wanted one; raise " +
                      ipc::LimitName("index_frames"));
  }
  passed_left_ -= frames;
  return Status();
}

}  // namespace bulkhead::worker_link
