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
  auto decoder =
      Decoder::Open(context_.backend, parameters, *context_.buffers.runtime());
  if (!decoder) return tl::unexpected(std::move(decoder).error());
  decoder_ = *std::move(decoder);
  if (!converter_) {
    converter_ = std::make_unique<OutputConverter>(
        demuxer_->display_matrix_untrusted(), max_frame_pixels_, output_);
  }
  MakeDelivery();
  at_beginning_ = true;
  return {};
}

void VideoStream::ForgetFrame() {
  frame_.Reset();
  frame_is_new_ = false;
  packets_ended_ = false;
  packet_pending_ = false;
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
  ipc::Expected<void> moved;
  switch (start.which()) {
    case schema::Play::Start::ONWARD:
      break;
    case schema::Play::Start::BEGINNING:
      moved = SeekToBeginning();
      break;
    case schema::Play::Start::KEYFRAME:
      // A seek that fails leaves the demuxer anywhere.
      at_beginning_ = false;
      moved = demuxer_->SeekToKeyframe(start.getKeyframe());
      if (!moved) {
        moved = SeekToBeginning();
        break;
      }
      ForgetFrame();
      decoder_->Flush();
      break;
    case schema::Play::Start::SAMPLE:
      moved = ipc::Fail(ipc::Code::kInternal, "video has no samples");
      break;
  }
  return moved;
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
        return true;
      case Decoder::Received::kEndOfStream:
        return false;
      case Decoder::Received::kDamaged:
        continue;
      case Decoder::Received::kNeedsPacket:
        break;
    }
    if (!packet_pending_ && !packets_ended_) {
      auto read = demuxer_->ReadPacket();
      if (!read) return tl::unexpected(std::move(read).error());
      packets_ended_ = !*read;
      packet_pending_ = true;
    }
    if (!packet_pending_) return false;
    auto sent =
        decoder_->SendPacket(packets_ended_ ? nullptr : &demuxer_->packet());
    if (!sent) return tl::unexpected(std::move(sent).error());
    packet_pending_ = *sent == Decoder::Sent::kTakeFramesFirst;
  }
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
    play_.active = false;
    at_beginning_ = false;
    return Answer([this](schema::Reply::Builder reply) {
      reply.setEndOfStream(play_.epoch);
    });
  }
  ipc::Expected<void> published;
  // A picture without a timestamp is not before anything.
  if (frame_->pts == BULKHEAD_NO_TIMESTAMP ||
      frame_->pts >= play_.skip_before) {
    if (auto size = converter_->Prepare(*frame_); !size) {
      return tl::unexpected(std::move(size).error());
    }
    const int64_t pts = frame_->pts;
    const int64_t duration = frame_->duration;
    const bool keyframe = frame_->keyframe != 0;
    auto delivered = delivery_->Deliver(frame_);
    if (!delivered) return tl::unexpected(std::move(delivered).error());
    if (!*delivered) return false;
    published = Publish(**delivered, pts, duration, keyframe);
    --play_.frames_left;
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
                                         int64_t pts, int64_t duration,
                                         bool keyframe) {
  return context_.replies.Send(kSmallReplyWords,
                               [&](schema::Reply::Builder reply) {
                                 auto frame = reply.initFrame();
                                 frame.setEpoch(play_.epoch);
                                 frame.setSlot(delivered.slot);
                                 frame.setGeneration(delivered.generation);
                                 frame.setWidth(delivered.width);
                                 frame.setHeight(delivered.height);
                                 frame.setStride(delivered.stride);
                                 frame.setPts(pts);
                                 frame.setDuration(duration);
                                 frame.setKeyframe(keyframe);
                                 frame.setFingerprint(Fingerprint(delivered));
                               });
}

uint32_t VideoStream::AbandonPlay() {
  play_.active = false;
  return play_.epoch;
}

}  // namespace bulkhead::worker
