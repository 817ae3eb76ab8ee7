// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/video_stream.h"

#include <algorithm>
#include <span>
#include <utility>

#include "backends/worker/media/decode/backend_failure.h"
#include "backends/worker/media/demux/index_scan.h"
#include "backends/worker/session/decoder_opening.h"
#include "backends/worker/session/opened_reply.h"
#include "backends/worker/session/output_request.h"
#include "backends/worker/session/picture_facts.h"
#include "backends/worker/session/within_memory.h"
#include "ipc/try.h"
#include "ipc/waiter.h"

namespace bulkhead::worker::session {
namespace {

namespace schema = ipc::schema;

constexpr size_t kIndexEntriesPerChunk = 750;

}  // namespace

ipc::Expected<std::unique_ptr<Stream>> VideoStream::Open(
    const StreamContext& context, schema::Open::Reader open) {
  std::unique_ptr<VideoStream> stream(new VideoStream(context, open));
  IPC_TRY(stream->Located(stream->OpenInput(open)));
  return stream;
}

VideoStream::VideoStream(const StreamContext& context,
                         schema::Open::Reader open)
    : context_(context),
      opening_(open),
      name_hint_(open.getNameHint().cStr()),
      media_bytes_(open.getMediaBytes()),
      max_frame_pixels_(open.getMaxFramePixels()),
      limits_(DemuxerLimitsOf(open)),
      output_(ReadOutput(open)),
      // An examiner must see each call of the decoder by itself.
      may_overlap_(ipc::Waiter::MoreThanOneCpu() && !opening_.has_examiner()),
      unseen_(context.replies),
      publisher_(context.replies) {}

template <typename T>
ipc::Expected<T> VideoStream::Located(ipc::Expected<T> result) const {
  // An invalid argument has nothing to do with the place in the file.
  if (!result && result.error().code != ipc::Code::kInvalidArgument &&
      reader_ && reader_->begun()) {
    result.error().message += ", " + reader_->Progress();
  }
  return result;
}

ipc::Expected<void> VideoStream::OpenInput(schema::Open::Reader open) {
  IPC_ASSIGN_OR_RETURN(
      auto demuxer, demux::Demuxer::Open(context_.media, media_bytes_,
                                         name_hint_, StreamToOpen(open),
                                         demux::StreamKind::kVideo, limits_));
  opening_.ChooseThreads(*demuxer);
  converter_ = std::make_unique<convert::OutputConverter>(
      demuxer->display_matrix_untrusted(), max_frame_pixels_, output_);
  demux::Demuxer& source = *demuxer;
  IPC_ASSIGN_OR_RETURN(reader_, decode::PictureReader::Open(
                                    std::move(demuxer),
                                    [this, &source] {
                                      return opening_.Open(
                                          context_.backend,
                                          *context_.buffers.runtime(),
                                          source.codec_parameters());
                                    },
                                    // Called before a decoder is replaced: the
                                    // delivery may hold frames of it.
                                    [this] { delivery_.reset(); }));

  // In a replay the host knows the size of the first frame from the first
  // worker. This worker may begin with another frame, which must not set the
  // size.
  if (open.getKnownWidth() > 0) {
    const convert::PictureSize known{open.getKnownWidth(),
                                     open.getKnownHeight()};
    IPC_TRY(converter_->FixSize(known));
    return Describe();
  }
  // Decodes the first frame to learn its size, which `opened` states. The
  // picture stays in the reader, and the first play publishes it.
  IPC_ASSIGN_OR_RETURN(const bool decoded, NextPicture());
  if (!decoded) {
    RequireMemory();
    const std::string complaint = reader_->TakeComplaint();
    return ipc::Fail(
        ipc::Code::kBadInput,
        "no frame of its video stream can be decoded" +
            (complaint.empty()
                 ? "; the backend " + std::string(context_.backend.name) +
                       " gave neither a picture nor an error for any packet, "
                       "so another device may be able to"
                 : decode::Quoted(complaint)));
  }
  IPC_TRY(converter_->Prepare(*reader_->picture()));
  return Describe();
}

ipc::Expected<void> VideoStream::Describe() {
  return SendOpened(context_.replies, *reader_, *converter_,
                    opening_.threads());
}

void VideoStream::MakeDelivery() {
  if (!pool_ || delivery_) return;
  delivery_ = std::make_unique<convert::FrameDelivery>(pool_, context_.buffers,
                                                       *converter_);
}

ipc::Expected<void> VideoStream::Scan() {
  // A failure to publish concerns only the play, which ends here.
  (void)publisher_.Settle();
  play_.active = false;
  // Scans with a second demuxer, so that the reader's demuxer keeps its
  // position. If possible, the reader lends its open file to that demuxer,
  // since probing a file again often takes longer than the scan.
  std::unique_ptr<demux::Demuxer> demuxer = reader_->Lend();
  const bool lent = demuxer != nullptr;
  if (!lent) {
    IPC_ASSIGN_OR_RETURN(demuxer, reader_->demuxer().OpenAgain());
  }
  const auto scanned = demux::ScanIndex(
      *demuxer, kIndexEntriesPerChunk,
      [this](std::span<const ipc::IndexEntry> entries) {
        const auto bytes = std::as_bytes(entries);
        return context_.replies.Send(
            kSmallReplyWords + bytes.size() / sizeof(capnp::word),
            [&](schema::Reply::Builder reply) {
              auto out = reply.initIndexChunk().initEntries(bytes.size());
              std::copy(bytes.begin(), bytes.end(),
                        reinterpret_cast<std::byte*>(out.begin()));
            });
      });
  if (lent) reader_->TakeBack(std::move(demuxer));
  IPC_TRY(scanned);
  return context_.replies.Send(
      kSmallReplyWords,
      [](schema::Reply::Builder reply) { reply.setIndexEnd(); });
}

void VideoStream::AttachPool(std::shared_ptr<decode::SlotPool> pool) {
  (void)publisher_.Settle();
  pool_ = std::move(pool);
  awaits_pool_ = false;
  if (delivery_) {
    delivery_->ReplacePool(pool_);
  } else {
    MakeDelivery();
  }
}

void VideoStream::Grant(uint32_t slot, uint32_t generation) {
  ++grants_;
  if (delivery_) delivery_->Grant(slot, generation);
}

ipc::Expected<void> VideoStream::StartPlay(schema::Play::Reader play) {
  (void)publisher_.Settle();
  play_ = {.epoch = play.getEpoch(),
           .active = true,
           .skip_before = play.getSkipBefore(),
           .frames_left = play.getMaxFrames(),
           .overlaps = play.getOverlap() && may_overlap_};
  stalled_at_.reset();
  awaits_pool_ = false;
  const auto start = play.getStart();
  if (start.isOnward()) return {};
  if (start.isSample()) {
    return ipc::Fail(ipc::Code::kInternal, "video has no samples");
  }
  unseen_.Clear();
  // No seek is needed if the stream is still at its beginning, and the play
  // starts there or at the keyframe that is the first picture. Each seek clears
  // the buffers, as in a new process, so that a damaged picture looks the same
  // wherever the play began.
  std::optional<int64_t> entry;  // empty: the play starts at the beginning
  if (start.isKeyframe()) entry = start.getKeyframe();
  if (start.isPacket()) entry = start.getPacket().getTimestamp();
  const bool stays =
      reader_->at_beginning() &&
      (!entry || (reader_->has_picture() && reader_->picture()->pts == *entry));
  if (!stays) {
    context_.buffers.Renew();
    if (start.isPacket()) {
      const auto packet = start.getPacket();
      IPC_TRY(reader_->SeekToPacket({.timestamp = packet.getTimestamp(),
                                     .position = packet.getPosition(),
                                     .check = packet.getCheck()}));
    } else {
      IPC_TRY(entry ? reader_->SeekToKeyframe(*entry)
                    : reader_->SeekToBeginning());
    }
  }
  MakeDelivery();
  return context_.replies.Send(
      kSmallReplyWords, [this](schema::Reply::Builder reply) {
        auto entered = reply.initEntered();
        entered.setEpoch(play_.epoch);
        if (reader_->at_beginning()) {
          entered.setBeginning();
        } else {
          entered.setKeyframe(reader_->demuxer().entry());
        }
      });
}

ipc::Expected<bool> VideoStream::NextPicture() {
  auto decoded = reader_->Next();
  if (decoded && opening_.threads() != 1 && reader_->depends_on_threads()) {
    return ipc::Fail(
        ipc::Code::kUnsupported,
        "several slices to a picture, or film grain, begin in the middle of "
        "its video stream, and libavcodec's pictures then depend on the number "
        "of threads; decode with one thread");
  }
  return decoded;
}

ipc::Expected<bool> VideoStream::Advance() { return Located(PlayOn()); }

ipc::Expected<bool> VideoStream::PlayOn() {
  if (play_.frames_left == 0) {
    play_.active = false;
    return Answer(
        [this](schema::Reply::Builder reply) { reply.setPaused(play_.epoch); });
  }
  auto next = NextPicture();
  // Settles the previous picture before a failure of this one is reported.
  IPC_TRY(publisher_.Settle());
  IPC_ASSIGN_OR_RETURN(const bool decoded, std::move(next));
  unseen_.AddLosses(*reader_);
  if (!decoded) {
    IPC_TRY(unseen_.Send(play_.epoch, *reader_));
    play_.active = false;
    return Answer([this](schema::Reply::Builder reply) {
      reply.setEndOfStream(play_.epoch);
    });
  }
  const decode::DecodedFrame& frame = reader_->picture();
  // A picture without a timestamp is never skipped.
  if (frame->pts == BULKHEAD_NO_TIMESTAMP || frame->pts >= play_.skip_before) {
    return Show();
  }
  unseen_.AddSkipped(*reader_);
  reader_->Pass();
  if (unseen_.fill_a_message()) {
    IPC_TRY(unseen_.Send(play_.epoch, *reader_));
  }
  return true;
}

ipc::Expected<bool> VideoStream::Show() {
  // The host counts frames by their order, so unseen frames go first.
  IPC_TRY(unseen_.Send(play_.epoch, *reader_));
  decode::DecodedFrame& frame = reader_->picture();
  PicturePublisher::Picture picture{.epoch = play_.epoch,
                                    .pts = frame->pts,
                                    .duration = frame->duration,
                                    .position = reader_->position(),
                                    .check = reader_->access_check(),
                                    .keyframe = frame->keyframe != 0,
                                    .damaged = reader_->damaged(),
                                    .sign = reader_->sign(),
                                    .facts = {}};
  if (output_.native) picture.facts = FactsOf(*frame);
  IPC_ASSIGN_OR_RETURN(auto placed, delivery_->Place(frame));
  if (!placed) return Stall();
  if (output_.native && !output_.autoscale) {
    picture.pixel_format = converter_->shape().pixel_format;
  }
  reader_->Pass();
  --play_.frames_left;
  // Two kinds of pictures are published on this thread: a picture that the
  // decoder wrote into the slot itself, which needs no conversion, and the
  // first picture of a play, which shows the host that the play has begun.
  const bool beside =
      play_.overlaps && play_.has_shown && !placed->frame.empty();
  play_.has_shown = true;
  publisher_.Begin(std::move(picture), *std::move(placed), *delivery_, beside);
  if (!beside) IPC_TRY(publisher_.Settle());
  return true;
}

ipc::Expected<bool> VideoStream::Stall() {
  if (delivery_->outgrown()) {
    IPC_TRY(AskForPool());
    return false;
  }
  if (!output_.native || stalled_at_ == grants_ || !pool_->has_pinned_grant()) {
    return false;
  }
  stalled_at_ = grants_;
  IPC_TRY(context_.replies.Send(kSmallReplyWords,
                                [this](schema::Reply::Builder reply) {
                                  auto needs = reply.initNeedsSlot();
                                  needs.setEpoch(play_.epoch);
                                  needs.setGrants(grants_);
                                }));
  return false;
}

ipc::Expected<void> VideoStream::AskForPool() {
  if (std::exchange(awaits_pool_, true)) return {};
  const convert::OutputShape& shape = converter_->shape();
  return context_.replies.Send(kSmallReplyWords,
                               [&](schema::Reply::Builder reply) {
                                 auto needs = reply.initNeedsPool();
                                 needs.setEpoch(play_.epoch);
                                 needs.setWidth(shape.size.width);
                                 needs.setHeight(shape.size.height);
                                 needs.setPixelFormat(shape.pixel_format);
                               });
}

ipc::Expected<bool> VideoStream::Answer(
    const std::function<void(schema::Reply::Builder)>& fill) {
  IPC_TRY(context_.replies.Send(kSmallReplyWords, fill));
  return true;
}

uint32_t VideoStream::AbandonPlay() {
  (void)publisher_.Settle();
  play_.active = false;
  return play_.epoch;
}

}  // namespace bulkhead::worker::session
