// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/video_stream.h"

#include <xxhash.h>

#include <algorithm>
#include <span>
#include <utility>

#include "backends/worker/media/demux/index_scan.h"
#include "backends/worker/session/decoder_opening.h"
#include "backends/worker/session/output_request.h"
#include "backends/worker/session/within_memory.h"
#include "ipc/damage_sign.h"
#include "ipc/frame_geometry.h"
#include "ipc/try.h"
#include "ipc/waiter.h"

namespace bulkhead::worker {
namespace {

namespace schema = ipc::schema;

constexpr size_t kIndexEntriesPerChunk = 750;
constexpr uint32_t kFingerprintRowStep = 16;
constexpr size_t kUnseenPerMessage = 128;
constexpr size_t kUnseenWords =
    kSmallReplyWords +
    schema::UnseenFrame::_capnpPrivate::dataWordSize * kUnseenPerMessage +
    kComplaintWords;

// Hashes every 16th row of each plane: enough for the host to verify that a
// replay delivers the same frames, at little cost.
uint64_t Fingerprint(const DeliveredFrame& frame) {
  uint64_t fingerprint = 0;
  for (uint32_t i = 0; i < frame.geometry.plane_count; ++i) {
    const ipc::PlaneGeometry& plane = frame.geometry.planes[i];
    const uint8_t* const rows = frame.data + plane.offset;
    for (uint32_t y = 0; y < plane.rows; y += kFingerprintRowStep) {
      fingerprint = XXH3_64bits_withSeed(rows + size_t{y} * plane.stride,
                                         plane.row_bytes, fingerprint);
    }
  }
  return fingerprint;
}

schema::Sign SignOf(ipc::DamageSign sign) {
  return static_cast<schema::Sign>(sign);
}
static_assert(static_cast<int>(schema::Sign::GAP) ==
              static_cast<int>(ipc::DamageSign::kGap));

// Returns what showed that the current picture is damaged.
ipc::DamageSign SignOf(const PictureReader& reader) {
  return reader.damaged() ? reader.sign() : ipc::DamageSign::kUnknown;
}

void SetRational(schema::Rational::Builder out, bulkhead_rational rational) {
  out.setNumerator(rational.numerator);
  out.setDenominator(rational.denominator);
}

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
      // An examiner looks for what changes between two calls.
      may_overlap_(ipc::Waiter::MoreThanOneCpu() && !opening_.has_examiner()),
      side_([this] { PublishBegun(); }) {}

template <typename T>
ipc::Expected<T> VideoStream::Located(ipc::Expected<T> result) const {
  // Where the file was read to does not matter if the call is wrong.
  if (!result && result.error().code != ipc::Code::kInvalidArgument &&
      reader_ && reader_->begun()) {
    result.error().message += ", " + reader_->Progress();
  }
  return result;
}

ipc::Expected<void> VideoStream::OpenInput(schema::Open::Reader open) {
  IPC_ASSIGN_OR_RETURN(
      auto demuxer,
      Demuxer::Open(context_.media, media_bytes_, name_hint_,
                    StreamToOpen(open), StreamKind::kVideo, limits_));
  opening_.ChooseThreads(*demuxer);
  converter_ = std::make_unique<OutputConverter>(
      demuxer->display_matrix_untrusted(), max_frame_pixels_, output_);
  const Demuxer& source = *demuxer;
  IPC_ASSIGN_OR_RETURN(reader_, PictureReader::Open(
                                    std::move(demuxer),
                                    [this, &source] {
                                      return opening_.Open(
                                          context_.backend,
                                          *context_.buffers.runtime(),
                                          source.codec_parameters());
                                    },
                                    [this] { delivery_.reset(); }));

  // A replay knows the size from the first worker, which decoded the first
  // frame. Another frame may be decoded first now, and must not set the size.
  if (open.getKnownWidth() > 0) {
    const PictureSize known{open.getKnownWidth(), open.getKnownHeight()};
    IPC_ASSIGN_OR_RETURN(const auto shape, converter_->FixSize(known));
    return Describe(shape);
  }
  // The host announces the size of the first frame, and only decoding shows
  // that size. The picture stays in the reader and is published by the first
  // play.
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
                 : Quoted(complaint)));
  }
  IPC_ASSIGN_OR_RETURN(const auto shape,
                       converter_->Prepare(*reader_->picture()));
  return Describe(shape);
}

void VideoStream::MakeDelivery() {
  if (!pool_ || delivery_) return;
  delivery_ =
      std::make_unique<FrameDelivery>(pool_, context_.buffers, *converter_);
}

bulkhead_rational VideoStream::AspectRatio(const OutputShape& shape) const {
  const StreamFacts& facts = reader_->demuxer().facts();
  const bulkhead_rational upright = facts.sample_aspect_ratio;
  const bool turned = facts.orientation.transpose && upright.numerator != 0;
  return shape.native && turned
             ? bulkhead_rational{upright.denominator, upright.numerator}
             : upright;
}

ipc::Expected<void> VideoStream::Describe(const OutputShape& shape) {
  const StreamFacts& facts = reader_->demuxer().facts();
  return context_.replies.Send(
      kSmallReplyWords + 64, [&](schema::Reply::Builder reply) {
        auto opened = reply.initOpened();
        opened.setStreamIndex(facts.stream_index);
        opened.setStreamCount(facts.stream_count);
        opened.setCodec(facts.codec);
        if (shape.native) {
          opened.setPixelFormat(shape.pixel_format);
        } else {
          opened.setPixelFormat(reader_->has_picture()
                                    ? reader_->picture()->pixel_format
                                    : facts.pixel_format);
        }
        opened.setContainer(facts.container.substr(0, 128));
        opened.setWidth(shape.size.width);
        opened.setHeight(shape.size.height);
        opened.setRotation(facts.orientation.degrees);
        opened.setVerticalFlip(facts.orientation.vertical_flip);
        SetRational(opened.initTimeBase(), facts.time_base);
        SetRational(opened.initAverageFrameRate(), facts.average_frame_rate);
        SetRational(opened.initBaseFrameRate(), facts.base_frame_rate);
        SetRational(opened.initSampleAspectRatio(), AspectRatio(shape));
        opened.setFrameCountFromHeader(facts.frame_count);
        opened.setDurationFromHeader(facts.duration);
        opened.setContainerDuration(facts.container_microseconds);
        opened.setStartFromHeader(facts.start);
        opened.setBitRate(facts.bit_rate);
        opened.setColorPrimaries(facts.color_primaries);
        opened.setColorTransfer(facts.color_transfer);
        opened.setColorSpace(facts.color_space);
        opened.setColorRange(facts.color_range);
        opened.setChromaLocation(static_cast<uint8_t>(facts.chroma_location));
        opened.setElementType(static_cast<schema::ElementType>(shape.element));
        opened.setThreads(opening_.threads());
        opened.setUprightWidth(converter_->upright_size().width);
        opened.setUprightHeight(converter_->upright_size().height);
      });
}

ipc::Expected<void> VideoStream::Scan() {
  // A failure belongs to the play that ends here.
  (void)Settle();
  play_.active = false;
  // Uses a second demuxer, so that the playing one keeps its position. It has
  // the playing one's open file where that can go back later, since probing a
  // file anew takes longer than many a scan.
  std::unique_ptr<Demuxer> demuxer = reader_->Lend();
  const bool lent = demuxer != nullptr;
  if (!lent) {
    IPC_ASSIGN_OR_RETURN(demuxer, reader_->demuxer().OpenAgain());
  }
  const auto scanned = ScanIndex(
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

void VideoStream::AttachPool(std::shared_ptr<SlotPool> pool) {
  (void)Settle();
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
  (void)Settle();
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
  unseen_.clear();
  complaint_.clear();
  // Buffers are cleared for every seek, as they would be for a new process, so
  // that a damaged picture looks the same wherever playing began. A stream that
  // is still at its beginning stays there, also where its first picture is the
  // keyframe that is asked for.
  std::optional<int64_t> entry;
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

void VideoStream::NoteLosses() {
  for (const Loss& loss : reader_->TakeLosses()) {
    using Fate = schema::UnseenFrame::Fate;
    unseen_.push_back({ipc::IsNote(loss.sign) ? Fate::NOTE
                       : loss.not_in_index    ? Fate::NOT_IN_INDEX
                                              : Fate::LOST,
                       loss});
    if (auto words = reader_->TakeComplaint(); !words.empty()) {
      complaint_ = std::move(words);
    }
  }
}

ipc::Expected<void> VideoStream::SendUnseen() {
  for (size_t sent = 0; sent < unseen_.size();) {
    // libavformat's words are about its stop alone, which comes last.
    const bool stopped = unseen_[sent].frame.sign == ipc::DamageSign::kStopped;
    const auto stop =
        std::find_if(unseen_.begin() + static_cast<ptrdiff_t>(sent) + 1,
                     unseen_.end(), [](const Unseen& unseen) {
                       return unseen.frame.sign == ipc::DamageSign::kStopped;
                     });
    const size_t count = std::min(
        kUnseenPerMessage, static_cast<size_t>(stop - unseen_.begin()) - sent);
    const std::string words =
        stopped ? reader_->demuxer().missing_end().error : complaint_;
    IPC_TRY(
        context_.replies.Send(kUnseenWords, [&](schema::Reply::Builder reply) {
          auto unseen = reply.initUnseen();
          unseen.setEpoch(play_.epoch);
          unseen.setWords(words.substr(0, kMostComplaintBytes));
          auto frames = unseen.initFrames(count);
          for (size_t i = 0; i < count; ++i) {
            const auto& [fate, frame] = unseen_[sent + i];
            frames[i].setFate(fate);
            frames[i].setPts(frame.pts);
            frames[i].setDuration(frame.duration);
            frames[i].setPosition(frame.position);
            frames[i].setCount(frame.packets);
            frames[i].setEndPosition(frame.end_position);
            frames[i].setDeclaredSize(frame.declared_size);
            frames[i].setSign(SignOf(frame.sign));
          }
        }));
    sent += count;
  }
  unseen_.clear();
  complaint_.clear();
  return {};
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
  // The picture before is sound, whatever became of this one.
  IPC_TRY(Settle());
  IPC_ASSIGN_OR_RETURN(const bool decoded, std::move(next));
  NoteLosses();
  if (!decoded) {
    IPC_TRY(SendUnseen());
    play_.active = false;
    return Answer([this](schema::Reply::Builder reply) {
      reply.setEndOfStream(play_.epoch);
    });
  }
  const DecodedFrame& frame = reader_->picture();
  // A picture without a timestamp cannot lie before the wanted position.
  if (frame->pts == BULKHEAD_NO_TIMESTAMP || frame->pts >= play_.skip_before) {
    return Show();
  }
  using Fate = schema::UnseenFrame::Fate;
  unseen_.push_back({reader_->damaged() ? Fate::DAMAGED : Fate::SOUND,
                     {.pts = frame->pts,
                      .duration = frame->duration,
                      .position = reader_->position(),
                      .packets = 1,
                      .sign = SignOf(*reader_)}});
  reader_->Pass();
  if (unseen_.size() >= kUnseenPerMessage) {
    IPC_TRY(SendUnseen());
  }
  return true;
}

ipc::Expected<bool> VideoStream::Show() {
  // The host counts frames by their order, so unseen frames go first.
  IPC_TRY(SendUnseen());
  DecodedFrame& frame = reader_->picture();
  const Picture picture{.epoch = play_.epoch,
                        .pts = frame->pts,
                        .duration = frame->duration,
                        .position = reader_->position(),
                        .check = reader_->access_check(),
                        .keyframe = frame->keyframe != 0,
                        .damaged = reader_->damaged(),
                        .sign = SignOf(*reader_),
                        .facts = FactsOf(*frame)};
  IPC_ASSIGN_OR_RETURN(auto placed, delivery_->Place(frame));
  if (!placed) return Stall();
  reader_->Pass();
  --play_.frames_left;
  // Nothing is converted where the decoder wrote into the slot. The host knows
  // by the first picture of a play that the worker is at that play.
  const bool beside =
      play_.overlaps && play_.has_shown && !placed->frame.empty();
  play_.has_shown = true;
  begun_ = Begun{picture, *std::move(placed)};
  context_.replies.CountDecoded();
  if (beside) {
    side_.Begin();
    return true;
  }
  PublishBegun();
  IPC_TRY(Settle());
  return true;
}

ipc::Expected<void> VideoStream::Settle() {
  side_.Finish();
  // The decoder gets its frame back on this thread.
  begun_.reset();
  return std::exchange(published_, {});
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
  const OutputShape& shape = converter_->shape();
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

void VideoStream::PublishBegun() {
  published_ = WithinMemory([this] { return Publish(*begun_); });
}

ipc::Expected<void> VideoStream::Publish(const Begun& begun) {
  IPC_ASSIGN_OR_RETURN(const auto delivered, delivery_->Convert(begun.placed));
  const Picture& picture = begun.picture;
  return context_.replies.Send(
      kSmallReplyWords, [&](schema::Reply::Builder reply) {
        auto frame = reply.initFrame();
        frame.setEpoch(picture.epoch);
        frame.setSlot(delivered.slot);
        frame.setGeneration(delivered.generation);
        frame.setWidth(delivered.geometry.width);
        frame.setHeight(delivered.geometry.height);
        frame.setStride(delivered.geometry.stride);
        frame.setPts(picture.pts);
        frame.setDuration(picture.duration);
        frame.setKeyframe(picture.keyframe);
        frame.setDamaged(picture.damaged);
        frame.setSign(SignOf(picture.sign));
        frame.setPosition(picture.position);
        frame.setCheck(picture.check);
        frame.setFingerprint(Fingerprint(delivered));
        if (output_.native) {
          SetFacts(frame.initFacts(), picture.facts);
        }
        if (output_.native && !output_.autoscale) {
          frame.setPixelFormat(converter_->shape().pixel_format);
        }
      });
}

uint32_t VideoStream::AbandonPlay() {
  (void)Settle();
  play_.active = false;
  return play_.epoch;
}

}  // namespace bulkhead::worker
