// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session_worker.h"

#include <capnp/message.h>
#include <poll.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>

#include "backends/worker/media/index_scan.h"
#include "ipc/capnp_read.h"
#include "ipc/frame_geometry.h"
#include "ipc/protocol_version.h"

namespace bulkhead::worker {
namespace {

namespace schema = ipc::schema;
using std::chrono::milliseconds;

// The host acts at once or is gone, in which case the socket says so first.
constexpr milliseconds kHostDeadline{60'000};
// A wait without work; then it only looks and waits again.
constexpr milliseconds kIdleDeadline{3'600'000};
constexpr size_t kMaxBufferBytes = size_t{1} << 30;
constexpr size_t kIndexEntriesPerChunk = 1000;
constexpr size_t kSmallReplyWords = 64;
constexpr size_t kMaxMessageBytes = 480;
constexpr uint32_t kFingerprintRowStep = 16;
// A device that is lost is nothing that this process can answer for: the host
// sees it end and opens the stream anew.
constexpr int kExitDeviceLost = 3;
constexpr int kExitHostGone = 0;
constexpr int kExitProtocol = 4;

enum Descriptor { kRequests, kReplies, kWakeWorker, kWakeHost, kMedia, kCount };

uint64_t Fingerprint(const DeliveredFrame& frame) {
  uint64_t fingerprint = 0;
  for (uint32_t y = 0; y < frame.height; y += kFingerprintRowStep) {
    fingerprint = XXH3_64bits_withSeed(frame.data + size_t{y} * frame.stride,
                                       size_t{3} * frame.width, fingerprint);
  }
  return fingerprint;
}

void SetRational(schema::Rational::Builder out, bulkhead_rational rational) {
  out.setNumerator(rational.numerator);
  out.setDenominator(rational.denominator);
}

ipc::Expected<ipc::ReceivedMessage> ReceiveAttach(int socket,
                                                  size_t descriptors) {
  auto received = ipc::ReceiveMessage(socket, ipc::kMaxDescriptors,
                                      ipc::Deadline::After(kHostDeadline));
  if (!received) return tl::unexpected(std::move(received).error());
  if (!*received || (*received)->descriptors.size() != descriptors) {
    return ipc::Fail(ipc::Code::kInternal, "the host is gone");
  }
  return **std::move(received);
}

}  // namespace

bool HostIsGone(int socket) {
  pollfd poll{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&poll, 1, 0) > 0;
}

ipc::Expected<std::unique_ptr<SessionWorker>> SessionWorker::Attach(
    const bulkhead_backend& backend, int socket) {
  capnp::MallocMessageBuilder message;
  auto hello = message.initRoot<schema::Hello>();
  hello.setProtocolVersion(ipc::kProtocolVersion);
  if (auto sent = ipc::SendMessage(socket, message, {},
                                   ipc::Deadline::After(kHostDeadline));
      !sent) {
    return tl::unexpected(std::move(sent).error());
  }
  auto attach = ReceiveAttach(socket, kCount);
  if (!attach) return tl::unexpected(std::move(attach).error());
  auto requests =
      ipc::MappedRegion::Map(attach->descriptors[kRequests].get(), false,
                             ipc::RingGeometry::kRequestRegionBytes);
  if (!requests) return tl::unexpected(std::move(requests).error());
  auto replies =
      ipc::MappedRegion::Map(attach->descriptors[kReplies].get(), true,
                             ipc::RingGeometry::kReplyRegionBytes);
  if (!replies) return tl::unexpected(std::move(replies).error());
  return std::unique_ptr<SessionWorker>(
      new SessionWorker(backend, socket, *std::move(requests),
                        *std::move(replies), std::move(attach->descriptors)));
}

SessionWorker::SessionWorker(const bulkhead_backend& backend, int socket,
                             ipc::MappedRegion requests,
                             ipc::MappedRegion replies,
                             std::vector<ipc::UniqueFd> descriptors)
    : backend_(backend),
      socket_(socket),
      requests_(std::move(requests)),
      replies_(std::move(replies)),
      descriptors_(std::move(descriptors)),
      reader_(requests_.bytes(), ipc::HeaderOf(replies_.writable_bytes()),
              ipc::RingGeometry::kRequestRingBytes),
      writer_(replies_.writable_bytes(), ipc::HeaderOf(requests_.bytes()),
              ipc::RingGeometry::kReplyRingBytes),
      waiter_(ipc::HeaderOf(replies_.writable_bytes()),
              descriptors_[kWakeWorker].get(), socket),
      buffers_(kMaxBufferBytes, [](std::string_view line) {
        // A full pipe loses the line rather than holding up the stream.
        const std::string whole = std::string(line) + "\n";
        (void)!::write(STDERR_FILENO, whole.data(), whole.size());
      }) {}

int SessionWorker::Run() {
  for (;;) {
    ipc::Expected<std::optional<ipc::CopiedMessage>> message;
    const auto take = [&] {
      message = reader_.TryRead();
      return !message || message->has_value();
    };
    if (!CanAdvance()) {
      const auto wake =
          waiter_.Await(take, ipc::Deadline::After(kIdleDeadline));
      if (wake == ipc::Wake::kPeerGone) return kExitHostGone;
    } else {
      take();
    }
    if (!message) return kExitProtocol;
    ipc::Expected<void> done;
    if (message->has_value()) {
      done = ipc::ReadCatching(
          [&] { return Handle((*message)->root<schema::Request>()); });
      starved_ = false;
      if (!done) {
        if (done.error().code == ipc::Code::kBackendLost) {
          return kExitDeviceLost;
        }
        done = ReplyFailed(0, done.error());
      }
    } else if (CanAdvance()) {
      // A host that has others in this process does not kill it to be rid of
      // one play.
      if (HostIsGone(socket_)) return kExitHostGone;
      const auto advanced = Advance();
      if (!advanced) {
        if (advanced.error().code == ipc::Code::kBackendLost) {
          return kExitDeviceLost;
        }
        play_.active = false;
        done = ReplyFailed(play_.epoch, advanced.error());
      } else {
        starved_ = !*advanced;
      }
    }
    if (!done) return kExitHostGone;
  }
}

ipc::Expected<void> SessionWorker::Handle(schema::Request::Reader request) {
  switch (request.which()) {
    case schema::Request::OPEN:
      return Open(request.getOpen());
    case schema::Request::SCAN:
      return Scan();
    case schema::Request::PLAY:
      return StartPlay(request.getPlay());
    case schema::Request::GRANT:
      if (delivery_) {
        delivery_->Grant(request.getGrant().getSlot(),
                         request.getGrant().getGeneration());
      }
      return {};
    case schema::Request::ATTACH_POOL:
      return AttachPool();
  }
  return ipc::Fail(ipc::Code::kInternal, "unknown request");
}

ipc::Expected<void> SessionWorker::Open(schema::Open::Reader open) {
  name_hint_ = open.getNameHint().cStr();
  media_bytes_ = open.getMediaBytes();
  device_ = open.getDevice();
  threads_ = open.getThreads();
  incarnation_ = open.getIncarnation();
  max_frame_pixels_ = open.getMaxFramePixels();
  for (const auto option : open.getOptions()) {
    options_.emplace_back(option.getKey().cStr(), option.getValue().cStr());
  }
  auto demuxer = Demuxer::Open(descriptors_[kMedia].get(), media_bytes_,
                               name_hint_, open.getStreamIndex());
  if (!demuxer) return tl::unexpected(std::move(demuxer).error());
  demuxer_ = *std::move(demuxer);
  if (auto opened = OpenDecoder(); !opened) return opened;

  if (open.getKnownWidth() > 0) {
    const PictureSize known{open.getKnownWidth(), open.getKnownHeight()};
    converter_->FixSize(known);
    return Describe(known);
  }
  // The size of all frames is that of the first, which only decoding tells.
  auto decoded = DecodeNext();
  if (!decoded) return tl::unexpected(std::move(decoded).error());
  if (!*decoded) {
    return ipc::Fail(ipc::Code::kBadInput,
                     "no frame of its video stream can be decoded");
  }
  auto size = converter_->Prepare(*frame_);
  if (!size) return tl::unexpected(std::move(size).error());
  return Describe(*size);
}

ipc::Expected<void> SessionWorker::OpenDecoder() {
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
  auto decoder = Decoder::Open(backend_, parameters, *buffers_.runtime());
  if (!decoder) return tl::unexpected(std::move(decoder).error());
  decoder_ = *std::move(decoder);
  if (!converter_) {
    converter_ = std::make_unique<RgbConverter>(
        demuxer_->display_matrix_untrusted(), max_frame_pixels_);
  }
  MakeDelivery();
  at_beginning_ = true;
  return {};
}

void SessionWorker::ForgetFrame() {
  frame_.Reset();
  frame_is_new_ = false;
  packets_ended_ = false;
  packet_pending_ = false;
}

void SessionWorker::MakeDelivery() {
  if (!pool_) return;
  delivery_ = std::make_unique<FrameDelivery>(pool_, buffers_, *converter_);
}

ipc::Expected<void> SessionWorker::Describe(PictureSize size) {
  auto geometry = ipc::RgbGeometry(size.width, size.height, max_frame_pixels_);
  if (!geometry) return tl::unexpected(std::move(geometry).error());
  stride_ = geometry->stride;
  const StreamFacts& facts = demuxer_->facts();
  return Reply(kSmallReplyWords + 64, [&](schema::Reply::Builder reply) {
    auto opened = reply.initOpened();
    opened.setStreamIndex(facts.stream_index);
    opened.setStreamCount(facts.stream_count);
    opened.setCodec(facts.codec);
    opened.setPixelFormat(frame_is_new_ ? frame_->pixel_format
                                        : facts.pixel_format);
    opened.setContainer(facts.container.substr(0, 128));
    opened.setWidth(size.width);
    opened.setHeight(size.height);
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
  });
}

ipc::Expected<void> SessionWorker::Scan() {
  play_.active = false;
  if (!demuxer_) return ipc::Fail(ipc::Code::kInternal, "nothing is open");
  // A demuxer of its own: the one that plays stays where it is.
  auto demuxer = Demuxer::Open(descriptors_[kMedia].get(), media_bytes_,
                               name_hint_, demuxer_->facts().stream_index);
  if (!demuxer) return tl::unexpected(std::move(demuxer).error());
  auto scanned = ScanIndex(
      **demuxer, kIndexEntriesPerChunk,
      [this](std::span<const ipc::IndexEntry> entries) {
        const auto bytes = std::as_bytes(entries);
        return Reply(kSmallReplyWords + bytes.size() / sizeof(capnp::word),
                     [&](schema::Reply::Builder reply) {
                       auto out =
                           reply.initIndexChunk().initEntries(bytes.size());
                       std::copy(bytes.begin(), bytes.end(),
                                 reinterpret_cast<std::byte*>(out.begin()));
                     });
      });
  if (!scanned) return scanned;
  return Reply(kSmallReplyWords,
               [](schema::Reply::Builder reply) { reply.setIndexEnd(); });
}

ipc::Expected<void> SessionWorker::AttachPool() {
  auto attach = ReceiveAttach(socket_, 1);
  if (!attach) return tl::unexpected(std::move(attach).error());
  auto root = attach->root<schema::Attach>();
  if (!root) return tl::unexpected(std::move(root).error());
  const auto pool = root->getFramePool();
  auto memory =
      ipc::MappedRegion::Map(attach->descriptors[0].get(), true,
                             pool.getSlotCount() * pool.getSlotBytes());
  if (!memory) return tl::unexpected(std::move(memory).error());
  delivery_.reset();
  pool_memory_ = *std::move(memory);
  pool_ = std::make_shared<SlotPool>(
      reinterpret_cast<uint8_t*>(pool_memory_->writable_bytes().data()),
      pool.getSlotCount(), pool.getSlotBytes());
  buffers_.DeliverInto(pool_, stride_);
  MakeDelivery();
  return Reply(kSmallReplyWords,
               [](schema::Reply::Builder reply) { reply.setPoolAttached(); });
}

ipc::Expected<void> SessionWorker::StartPlay(schema::Play::Reader play) {
  play_ = {.epoch = play.getEpoch(),
           .active = true,
           .skip_before = play.getSkipBefore(),
           .frames_left = play.getMaxFrames()};
  if (!demuxer_) return ipc::Fail(ipc::Code::kInternal, "nothing is open");
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
  }
  if (!moved) {
    play_.active = false;
    return ReplyFailed(play_.epoch, moved.error());
  }
  return {};
}

ipc::Expected<void> SessionWorker::SeekToBeginning() {
  if (at_beginning_) return {};
  if (auto sought = demuxer_->SeekToBeginning(); !sought) return sought;
  // Not only flushed: what a decoder keeps across a flush would show.
  return OpenDecoder();
}

ipc::Expected<bool> SessionWorker::DecodeNext() {
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

bool SessionWorker::CanAdvance() const {
  return play_.active && delivery_ && !starved_;
}

ipc::Expected<bool> SessionWorker::Advance() {
  if (play_.frames_left == 0) {
    play_.active = false;
    if (auto sent = Reply(kSmallReplyWords,
                          [this](schema::Reply::Builder reply) {
                            reply.setPaused(play_.epoch);
                          });
        !sent) {
      return tl::unexpected(std::move(sent).error());
    }
    return true;
  }
  auto decoded = DecodeNext();
  if (!decoded) return decoded;
  if (!*decoded) {
    play_.active = false;
    at_beginning_ = false;
    if (auto sent = Reply(kSmallReplyWords,
                          [this](schema::Reply::Builder reply) {
                            reply.setEndOfStream(play_.epoch);
                          });
        !sent) {
      return tl::unexpected(std::move(sent).error());
    }
    return true;
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

ipc::Expected<void> SessionWorker::Publish(const DeliveredFrame& delivered,
                                           int64_t pts, int64_t duration,
                                           bool keyframe) {
  return Reply(kSmallReplyWords, [&](schema::Reply::Builder reply) {
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

template <typename Fill>
ipc::Expected<void> SessionWorker::Reply(size_t max_words, Fill fill) {
  const auto wake = waiter_.Await([&] { return writer_.HasRoom(max_words); },
                                  ipc::Deadline::After(kIdleDeadline),
                                  ipc::WakeReason::kRoom);
  if (wake != ipc::Wake::kReady) {
    return ipc::Fail(ipc::Code::kInternal, "the host is gone");
  }
  auto written =
      writer_.TryWrite(max_words, [&](capnp::MessageBuilder& message) {
        fill(message.initRoot<schema::Reply>());
      });
  if (!written) return written;
  ipc::WakePeer(ipc::HeaderOf(requests_.bytes()),
                descriptors_[kWakeHost].get());
  return {};
}

ipc::Expected<void> SessionWorker::ReplyFailed(uint32_t epoch,
                                               const ipc::Error& error) {
  return Reply(kSmallReplyWords + kMaxMessageBytes / sizeof(capnp::word),
               [&](schema::Reply::Builder reply) {
                 auto failed = reply.initFailed();
                 failed.setEpoch(epoch);
                 auto failure = failed.initFailure();
                 failure.setCode(static_cast<schema::ErrorCode>(error.code));
                 failure.setMessage(error.message.substr(0, kMaxMessageBytes));
               });
}

}  // namespace bulkhead::worker
