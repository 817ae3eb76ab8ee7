// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/video_stream.h"

#include <xxhash.h>

#include <algorithm>
#include <span>

#include "backends/worker/media/index_scan.h"
#include "backends/worker/output_request.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::worker {
namespace {

namespace schema = ipc::schema;

constexpr size_t kIndexEntriesPerChunk = 1000;
constexpr uint32_t kFingerprintRowStep = 16;
constexpr size_t kUnseenPerMessage = 128;
// A list element is five words.
constexpr size_t kUnseenWords = kSmallReplyWords + 5 * kUnseenPerMessage;

uint64_t Fingerprint(const DeliveredFrame& frame) {
  uint64_t fingerprint = 0;
  for (uint32_t y = 0; y < frame.height; y += kFingerprintRowStep) {
    fingerprint = XXH3_64bits_withSeed(frame.data + size_t{y} * frame.stride,
                                       frame.row_bytes, fingerprint);
  }
  return fingerprint;
}

void SetRational(schema::Rational::Builder out, bulkhead_rational rational) {
  out.setNumerator(rational.numerator);
  out.setDenominator(rational.denominator);
}

}  // namespace

ipc::Expected<std::unique_ptr<Stream>> VideoStream::Open(
    const StreamContext& context, schema::Open::Reader open) {
  std::unique_ptr<VideoStream> stream(new VideoStream(context, open));
  if (auto opened = stream->OpenInput(open); !opened) {
    return tl::unexpected(std::move(opened).error());
  }
  return stream;
}

VideoStream::VideoStream(const StreamContext& context,
                         schema::Open::Reader open)
    : context_(context),
      name_hint_(open.getNameHint().cStr()),
      media_bytes_(open.getMediaBytes()),
      device_(open.getDevice()),
      threads_(open.getThreads()),
      incarnation_(open.getIncarnation()),
      max_frame_pixels_(open.getMaxFramePixels()),
      ignore_errors_(open.getIgnoreErrors()),
      output_(ReadOutput(open.getOutput())) {
  for (const auto option : open.getOptions()) {
    options_.emplace_back(option.getKey().cStr(), option.getValue().cStr());
  }
}

ipc::Expected<void> VideoStream::OpenInput(schema::Open::Reader open) {
  auto demuxer = Demuxer::Open(context_.media, media_bytes_, name_hint_,
                               open.getStreamIndex());
  if (!demuxer) return tl::unexpected(std::move(demuxer).error());
  demuxer_ = *std::move(demuxer);
  if (auto opened = OpenDecoder(); !opened) return opened;

  if (open.getKnownWidth() > 0) {
    const PictureSize known{open.getKnownWidth(), open.getKnownHeight()};
    auto shape = converter_->FixSize(known);
    if (!shape) return tl::unexpected(std::move(shape).error());
    return Describe(*shape);
  }
  // The size of all frames is that of the first, which only decoding tells.
  auto decoded = DecodeNext();
  if (!decoded) return tl::unexpected(std::move(decoded).error());
  if (!*decoded) {
    return ipc::Fail(ipc::Code::kBadInput,
                     "no frame of its video stream can be decoded");
  }
  auto shape = converter_->Prepare(*frame_);
  if (!shape) return tl::unexpected(std::move(shape).error());
  return Describe(*shape);
}

ipc::Expected<void> VideoStream::OpenDecoder() {
  ForgetFrame();
  // It may hold frames of the decoder.
  delivery_.reset();
  decoder_.reset();
  std::vector<bulkhead_option> options;
  for (const auto& [key, value] : options_) {
    options.push_back({key.c_str(), value.c_str()});
  }
  bulkhead_open_parameters parameters{};
  parameters.size = sizeof(parameters);
  parameters.device = device_;
  parameters.codec = &demuxer_->codec_parameters();
  parameters.threads = threads_;
  parameters.incarnation = incarnation_;
  parameters.options = options.data();
  parameters.option_count = options.size();
  parameters.max_frame_pixels = max_frame_pixels_;
  parameters.ignore_errors = ignore_errors_;
  auto decoder =
      Decoder::Open(context_.backend, parameters, *context_.buffers.runtime());
  if (!decoder) return tl::unexpected(std::move(decoder).error());
  decoder_ = *std::move(decoder);
  if (!converter_) {
    converter_ = std::make_unique<OutputConverter>(
        demuxer_->display_matrix_untrusted(), max_frame_pixels_, output_);
  }
  MakeDelivery();
  inspector_ = demuxer_->MakeInspector();
  outstanding_.Restart(INT64_MIN);
  at_beginning_ = true;
  met_damage_ = false;
  return {};
}

void VideoStream::ForgetFrame() {
  frame_.Reset();
  frame_is_new_ = false;
  packets_ended_ = false;
  packet_pending_ = false;
  unseen_.clear();
}

void VideoStream::MakeDelivery() {
  if (!pool_) return;
  delivery_ =
      std::make_unique<FrameDelivery>(pool_, context_.buffers, *converter_);
}

ipc::Expected<void> VideoStream::Describe(const OutputShape& shape) {
  auto geometry = ipc::RgbGeometry(shape.size.width, shape.size.height,
                                   max_frame_pixels_, shape.element);
  if (!geometry) return tl::unexpected(std::move(geometry).error());
  stride_ = geometry->stride;
  const StreamFacts& facts = demuxer_->facts();
  return context_.replies.Send(
      kSmallReplyWords + 64, [&](schema::Reply::Builder reply) {
        auto opened = reply.initOpened();
        opened.setStreamIndex(facts.stream_index);
        opened.setStreamCount(facts.stream_count);
        opened.setCodec(facts.codec);
        opened.setPixelFormat(frame_is_new_ ? frame_->pixel_format
                                            : facts.pixel_format);
        opened.setContainer(facts.container.substr(0, 128));
        opened.setWidth(shape.size.width);
        opened.setHeight(shape.size.height);
        opened.setRotation(facts.orientation.degrees);
        SetRational(opened.initTimeBase(), facts.time_base);
        SetRational(opened.initAverageFrameRate(), facts.average_frame_rate);
        SetRational(opened.initSampleAspectRatio(), facts.sample_aspect_ratio);
        opened.setFrameCountFromHeader(facts.frame_count);
        opened.setDurationFromHeader(facts.duration);
        opened.setStartFromHeader(facts.start);
        opened.setBitRate(facts.bit_rate);
        opened.setColorPrimaries(facts.color_primaries);
        opened.setColorTransfer(facts.color_transfer);
        opened.setColorSpace(facts.color_space);
        opened.setColorRange(facts.color_range);
        opened.setElementType(static_cast<schema::ElementType>(shape.element));
        opened.setUprightWidth(converter_->upright_size().width);
        opened.setUprightHeight(converter_->upright_size().height);
      });
}

ipc::Expected<void> VideoStream::Scan() {
  play_.active = false;
  // A demuxer of its own: the one that plays stays where it is.
  auto demuxer = Demuxer::Open(context_.media, media_bytes_, name_hint_,
                               demuxer_->facts().stream_index);
  if (!demuxer) return tl::unexpected(std::move(demuxer).error());
  auto scanned = ScanIndex(
      **demuxer, kIndexEntriesPerChunk,
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
  if (!scanned) return scanned;
  return context_.replies.Send(
      kSmallReplyWords,
      [](schema::Reply::Builder reply) { reply.setIndexEnd(); });
}

void VideoStream::AttachPool(std::shared_ptr<SlotPool> pool) {
  delivery_.reset();
  pool_ = std::move(pool);
  context_.buffers.DeliverInto(pool_, stride_);
  MakeDelivery();
}

void VideoStream::Grant(uint32_t slot, uint32_t generation) {
  if (delivery_) delivery_->Grant(slot, generation);
}

ipc::Expected<void> VideoStream::StartPlay(schema::Play::Reader play) {
  play_ = {.epoch = play.getEpoch(),
           .active = true,
           .skip_before = play.getSkipBefore(),
           .frames_left = play.getMaxFrames()};
  const auto start = play.getStart();
  if (start.isOnward()) return {};
  if (start.isSample()) {
    return ipc::Fail(ipc::Code::kInternal, "video has no samples");
  }
  ipc::Expected<void> moved = start.isKeyframe()
                                  ? SeekToKeyframe(start.getKeyframe())
                                  : SeekToBeginning();
  if (!moved) return moved;
  return context_.replies.Send(kSmallReplyWords,
                               [this](schema::Reply::Builder reply) {
                                 auto entered = reply.initEntered();
                                 entered.setEpoch(play_.epoch);
                                 if (at_beginning_) {
                                   entered.setBeginning();
                                 } else {
                                   entered.setKeyframe(demuxer_->entry());
                                 }
                               });
}

ipc::Expected<void> VideoStream::SeekToKeyframe(int64_t timestamp) {
  at_beginning_ = false;
  // A seek that fails leaves the demuxer anywhere.
  if (!demuxer_->SeekToKeyframe(timestamp) || demuxer_->at_beginning()) {
    return SeekToBeginning();
  }
  if (met_damage_) {
    // Headers that were made up by damage outlive a flush.
    if (auto opened = OpenDecoder(); !opened) return opened;
    at_beginning_ = false;
  } else {
    ForgetFrame();
    decoder_->Flush();
  }
  inspector_->Restart();
  outstanding_.Restart(demuxer_->entry());
  return {};
}

ipc::Expected<void> VideoStream::SeekToBeginning() {
  if (at_beginning_) return {};
  if (auto sought = demuxer_->SeekToBeginning(); !sought) return sought;
  // Not only flushed: what a decoder keeps across a flush would show.
  return OpenDecoder();
}

ipc::Expected<bool> VideoStream::DecodeNext() {
  if (frame_is_new_) return true;
  for (;;) {
    auto received = decoder_->ReceiveFrame(&frame_);
    if (!received) return tl::unexpected(std::move(received).error());
    switch (*received) {
      case Decoder::Received::kFrame:
        frame_is_new_ = true;
        NoteLosses(outstanding_.Shown(frame_->pts, &frame_position_));
        if (frame_->damaged != 0) met_damage_ = true;
        return true;
      case Decoder::Received::kEndOfStream:
        NoteLosses(outstanding_.Ended());
        return false;
      case Decoder::Received::kDamaged:
        met_damage_ = true;
        continue;
      case Decoder::Received::kNeedsPacket:
        break;
    }
    if (!packet_pending_ && !packets_ended_) {
      if (auto read = ReadPacket(); !read) {
        return tl::unexpected(std::move(read).error());
      }
    }
    if (!packet_pending_) return false;
    auto sent =
        decoder_->SendPacket(packets_ended_ ? nullptr : &demuxer_->packet());
    if (!sent) return tl::unexpected(std::move(sent).error());
    packet_pending_ = *sent == Decoder::Sent::kTakeFramesFirst;
    if (*sent == Decoder::Sent::kDamaged) met_damage_ = true;
  }
}

ipc::Expected<void> VideoStream::ReadPacket() {
  auto read = demuxer_->ReadPacket();
  if (!read) return tl::unexpected(std::move(read).error());
  packets_ended_ = !*read;
  packet_pending_ = true;
  if (packets_ended_) return {};
  const bulkhead_packet& packet = demuxer_->packet();
  const bool shows = inspector_->Inspect(packet);
  if (!inspector_->ordered()) outstanding_.OnlyCount();
  if (shows && (packet.flags & BULKHEAD_PACKET_DISCARD) == 0) {
    outstanding_.Sent(packet.pts, packet.duration, packet.position);
  }
  return {};
}

void VideoStream::NoteLosses(const std::vector<Loss>& losses) {
  for (const Loss& loss : losses) {
    met_damage_ = true;
    unseen_.push_back({schema::UnseenFrame::Fate::LOST, loss});
  }
}

ipc::Expected<void> VideoStream::SendUnseen() {
  for (size_t sent = 0; sent < unseen_.size();) {
    const size_t count = std::min(kUnseenPerMessage, unseen_.size() - sent);
    auto told =
        context_.replies.Send(kUnseenWords, [&](schema::Reply::Builder reply) {
          auto unseen = reply.initUnseen();
          unseen.setEpoch(play_.epoch);
          auto frames = unseen.initFrames(count);
          for (size_t i = 0; i < count; ++i) {
            const auto& [fate, frame] = unseen_[sent + i];
            frames[i].setFate(fate);
            frames[i].setPts(frame.pts);
            frames[i].setDuration(frame.duration);
            frames[i].setPosition(frame.position);
            frames[i].setCount(frame.packets);
          }
        });
    if (!told) return told;
    sent += count;
  }
  unseen_.clear();
  return {};
}

ipc::Expected<bool> VideoStream::Advance() {
  if (play_.frames_left == 0) {
    play_.active = false;
    return Answer(
        [this](schema::Reply::Builder reply) { reply.setPaused(play_.epoch); });
  }
  auto decoded = DecodeNext();
  if (!decoded) return decoded;
  if (!*decoded) {
    if (auto told = SendUnseen(); !told) {
      return tl::unexpected(std::move(told).error());
    }
    play_.active = false;
    at_beginning_ = false;
    return Answer([this](schema::Reply::Builder reply) {
      reply.setEndOfStream(play_.epoch);
    });
  }
  const Picture picture{.pts = frame_->pts,
                        .duration = frame_->duration,
                        .position = frame_position_,
                        .keyframe = frame_->keyframe != 0,
                        .damaged = frame_->damaged != 0};
  ipc::Expected<void> published;
  // A picture without a timestamp is not before anything.
  if (picture.pts == BULKHEAD_NO_TIMESTAMP ||
      picture.pts >= play_.skip_before) {
    if (auto told = SendUnseen(); !told) {
      return tl::unexpected(std::move(told).error());
    }
    if (auto size = converter_->Prepare(*frame_); !size) {
      return tl::unexpected(std::move(size).error());
    }
    auto delivered = delivery_->Deliver(frame_);
    if (!delivered) return tl::unexpected(std::move(delivered).error());
    if (!*delivered) return false;
    published = Publish(**delivered, picture);
    --play_.frames_left;
  } else {
    using Fate = schema::UnseenFrame::Fate;
    unseen_.push_back({picture.damaged ? Fate::DAMAGED : Fate::SOUND,
                       {picture.pts, picture.duration, picture.position, 1}});
    if (unseen_.size() >= kUnseenPerMessage) published = SendUnseen();
  }
  frame_.Reset();
  frame_is_new_ = false;
  at_beginning_ = false;
  if (!published) return tl::unexpected(std::move(published).error());
  return true;
}

ipc::Expected<bool> VideoStream::Answer(
    const std::function<void(schema::Reply::Builder)>& fill) {
  auto sent = context_.replies.Send(kSmallReplyWords, fill);
  if (!sent) return tl::unexpected(std::move(sent).error());
  return true;
}

ipc::Expected<void> VideoStream::Publish(const DeliveredFrame& delivered,
                                         const Picture& picture) {
  return context_.replies.Send(kSmallReplyWords,
                               [&](schema::Reply::Builder reply) {
                                 auto frame = reply.initFrame();
                                 frame.setEpoch(play_.epoch);
                                 frame.setSlot(delivered.slot);
                                 frame.setGeneration(delivered.generation);
                                 frame.setWidth(delivered.width);
                                 frame.setHeight(delivered.height);
                                 frame.setStride(delivered.stride);
                                 frame.setPts(picture.pts);
                                 frame.setDuration(picture.duration);
                                 frame.setKeyframe(picture.keyframe);
                                 frame.setDamaged(picture.damaged);
                                 frame.setPosition(picture.position);
                                 frame.setFingerprint(Fingerprint(delivered));
                               });
}

uint32_t VideoStream::AbandonPlay() {
  play_.active = false;
  return play_.epoch;
}

}  // namespace bulkhead::worker
