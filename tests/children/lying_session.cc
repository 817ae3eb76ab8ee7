// SPDX-License-Identifier: Apache-2.0
#include "tests/children/lying_session.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "ipc/frame_geometry.h"
#include "ipc/index_entry.h"
#include "ipc/pixel_layout.h"
#include "ipc/protocol_version.h"

namespace bulkhead::tests {
namespace {

namespace schema = ipc::schema;

constexpr std::chrono::milliseconds kPatience{60'000};
constexpr int64_t kKeyframeInterval = 8;
constexpr int kFramesBeforeLie = 3;

enum Descriptor { kRequests, kReplies, kWindow, kMedia, kWakeHost };

ipc::ReceivedMessage Receive(int socket) {
  auto received = ipc::ReceiveMessage(socket, ipc::kMaxDescriptors,
                                      ipc::Deadline::After(kPatience));
  if (!received || !*received) ::_exit(0);
  return **std::move(received);
}

}  // namespace

void LyingSession::Run(int socket, std::optional<Lie> lie) {
  LyingSession session(socket, std::move(lie));
  if (!session.TellIf(Step::kHello)) {
    session.SendHello(ipc::kProtocolVersion);
  }
  session.Attach();
  session.Serve();
}

bool LyingSession::TellIf(Step step) {
  if (!lie_ || lie_->step != step || telling_) return false;
  telling_ = true;
  lie_->tell(*this);
  if (!goes_on_) AwaitEnd();
  return true;
}

void LyingSession::AwaitEnd() {
  pollfd poll{.fd = socket_, .events = POLLRDHUP, .revents = 0};
  while (::ppoll(&poll, 1, nullptr, nullptr) < 0) {
  }
  ::_exit(0);
}

void LyingSession::SendHello(uint32_t version) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::Hello>().setProtocolVersion(version);
  (void)ipc::SendMessage(socket_, message, {}, ipc::Deadline::After(kPatience));
}

void LyingSession::Attach() {
  auto attach = Receive(socket_);
  descriptors_ = std::move(attach.descriptors);
  requests_ = ipc::MappedRegion::Map(descriptors_[kRequests].get(), false,
                                     ipc::RingGeometry::kRequestRegionBytes)
                  .value();
  replies_ = ipc::MappedRegion::Map(descriptors_[kReplies].get(), true,
                                    ipc::RingGeometry::kReplyRegionBytes)
                 .value();
  // The pool can be mapped at no other number than these have.
  for (const int mapped : {kRequests, kReplies, kWindow}) {
    descriptors_[static_cast<size_t>(mapped)].reset();
  }
  reader_.emplace(requests_->bytes(), header(),
                  ipc::RingGeometry::kRequestRingBytes);
  writer_.emplace(replies_->writable_bytes(), host_header(),
                  ipc::RingGeometry::kReplyRingBytes);
  waiter_.emplace(header(), host_header(),
                  std::initializer_list<ipc::WatchedWord>{
                      {.word = &host_header()->closed,
                       .scope = ipc::WatchedWord::Scope::kWithPeer}});
}

void LyingSession::Serve() {
  for (;;) {
    std::optional<ipc::CopiedMessage> message;
    const auto take = [&] {
      message = reader_->TryRead().value();
      return message.has_value();
    };
    if (CanPlay()) {
      take();
    } else if (waiter_->Await(take, ipc::Deadline::After(kPatience)) !=
               ipc::Wake::kReady) {
      ::_exit(0);
    }
    if (message) {
      Handle(message->root<schema::Request>());
    } else {
      Advance();
    }
  }
}

void LyingSession::Listen() {
  const auto message = reader_->TryRead().value();
  if (message) Handle(message->root<schema::Request>());
}

void LyingSession::Handle(schema::Request::Reader request) {
  switch (request.which()) {
    case schema::Request::OPEN:
      is_audio_ = request.getOpen().getKind() == schema::StreamKind::AUDIO;
      is_native_ = request.getOpen().getOutput().getElement().isNative();
      autoscales_ = request.getOpen().getOutput().getAutoscale();
      if (TellIf(Step::kOpen)) break;
      is_audio_ ? ReplyOpenedAudio() : ReplyOpened();
      break;
    case schema::Request::SCAN:
      if (!TellIf(Step::kScan)) Scan();
      break;
    case schema::Request::ATTACH_POOL:
      if (!TellIf(Step::kAttachPool)) AttachPool();
      break;
    case schema::Request::PLAY:
      Play(request.getPlay());
      break;
    case schema::Request::GRANT:
      ++grants_taken_;
      grants_.emplace_back(request.getGrant().getSlot(),
                           request.getGrant().getGeneration());
      break;
    case schema::Request::DESCRIBE:
      if (request.getDescribe().getScan()) TellIf(Step::kDescribe);
      Describe();
      break;
  }
}

void LyingSession::Scan() {
  std::vector<ipc::IndexEntry> entries;
  for (int64_t i = 0; i < kLyingFrames; ++i) {
    entries.push_back({.pts = i,
                       .duration = 1,
                       .position = -1,
                       .check = i % kKeyframeInterval == 0 ? 1u : 0u,
                       .keyframe = i % kKeyframeInterval == 0,
                       .reserved = 0});
  }
  const size_t bytes = entries.size() * sizeof(ipc::IndexEntry);
  Reply(
      [&](schema::Reply::Builder reply) {
        auto out = reply.initIndexChunk().initEntries(bytes);
        std::memcpy(out.begin(), entries.data(), bytes);
      },
      64 + bytes / sizeof(capnp::word));
  Reply([](schema::Reply::Builder reply) { reply.setIndexEnd(); });
}

void LyingSession::Describe() {
  Reply([](schema::Reply::Builder reply) {
    reply.initDescribed().initContainer().setFormat("made-up");
  });
}

void LyingSession::AttachPool() {
  TakePool();
  Reply([](schema::Reply::Builder reply) { reply.setPoolAttached(); });
}

void LyingSession::TakePool() {
  auto attach = Receive(socket_);
  const auto pool = attach.root<schema::Attach>()->getFramePool();
  slot_bytes_ = pool.getSlotBytes();
  grants_.clear();
  pool_ = ipc::MappedRegion::Map(attach.descriptors[0].get(), true,
                                 pool.getSlotCount() * slot_bytes_)
              .value();
}

void LyingSession::Play(schema::Play::Reader play) {
  epoch_ = play.getEpoch();
  playing_ = true;
  frames_left_ = play.getMaxFrames();
  const auto start = play.getStart();
  if (start.isBeginning()) {
    position_ = 0;
  } else if (start.isKeyframe()) {
    position_ = start.getKeyframe() / kKeyframeInterval * kKeyframeInterval;
  } else if (start.isPacket()) {
    position_ = start.getPacket().getTimestamp();
  }
  if (start.isSample()) position_ = start.getSample();
  TellIf(Step::kPlay);
  if (is_audio_) return;
  if (!start.isBeginning()) TellIf(Step::kSeek);
  if (!start.isOnward()) ReplyEntered(start.isKeyframe() || start.isPacket());
  TellIf(Step::kEntered);
  for (; position_ < play.getSkipBefore(); ++position_) {
    ReplyUnseen([this](auto frame) { frame.setPts(position_); });
  }
}

void LyingSession::ReplyEntered(bool keyframe) {
  Reply([&](schema::Reply::Builder reply) {
    auto entered = reply.initEntered();
    entered.setEpoch(epoch_);
    if (keyframe) {
      entered.setKeyframe(position_);
    } else {
      entered.setBeginning();
    }
  });
}

void LyingSession::ReplyUnseen(
    const std::function<void(schema::UnseenFrame::Builder)>& change) {
  Reply([&](schema::Reply::Builder reply) {
    auto unseen = reply.initUnseen();
    unseen.setEpoch(epoch_);
    change(unseen.initFrames(1)[0]);
  });
}

void LyingSession::Advance() {
  if (frames_left_ == 0) {
    playing_ = false;
    Reply([this](schema::Reply::Builder reply) { reply.setPaused(epoch_); });
    return;
  }
  if (position_ >= (is_audio_ ? kLyingSamples : kLyingFrames)) {
    playing_ = false;
    Reply(
        [this](schema::Reply::Builder reply) { reply.setEndOfStream(epoch_); });
    return;
  }
  if (published_ == kFramesBeforeLie && TellIf(Step::kFrame)) return;
  if (is_audio_) {
    PublishSamples();
    return;
  }
  Publish();
  ++position_;
  --frames_left_;
}

void LyingSession::Reply(
    const std::function<void(schema::Reply::Builder)>& fill, size_t max_words) {
  if (waiter_->Await([&] { return writer_->HasRoom(max_words); },
                     ipc::Deadline::After(kPatience),
                     ipc::WakeReason::kRoom) != ipc::Wake::kReady) {
    ::_exit(0);
  }
  const auto written =
      writer_->TryWrite(max_words, [&](capnp::MessageBuilder& message) {
        fill(message.initRoot<schema::Reply>());
      });
  if (!written) ::_exit(1);
  if (wakes_) WakeHost();
}

void LyingSession::ReplyOpened(
    const std::function<void(schema::Opened::Builder)>& change,
    size_t max_words) {
  Reply(
      [&](schema::Reply::Builder reply) {
        auto opened = reply.initOpened();
        opened.setStreamCount(1);
        opened.setThreads(1);
        opened.setCodec("made-up");
        opened.setPixelFormat(kLyingFormat);
        opened.setWidth(kLyingWidth);
        opened.setHeight(kLyingHeight);
        opened.setUprightWidth(kLyingWidth);
        opened.setUprightHeight(kLyingHeight);
        auto time_base = opened.initTimeBase();
        time_base.setNumerator(1);
        time_base.setDenominator(25);
        opened.setDurationFromHeader(kLyingFrames);
        opened.setFrameCountFromHeader(kLyingFrames);
        auto frame_rate = opened.initAverageFrameRate();
        frame_rate.setNumerator(25);
        frame_rate.setDenominator(1);
        if (change) change(opened);
      },
      max_words);
}

bool LyingSession::Publish(
    const std::function<void(schema::PublishedFrame::Builder)>& change) {
  if (grants_.empty()) return false;
  const auto [slot, generation] = grants_.front();
  grants_.pop_front();
  std::memset(pool_->writable_bytes().data() + slot * slot_bytes_,
              static_cast<int>(position_), slot_bytes_);
  ++published_;
  Reply(
      [&, slot = slot, generation = generation](schema::Reply::Builder reply) {
        auto frame = reply.initFrame();
        frame.setEpoch(epoch_);
        frame.setSlot(slot);
        frame.setGeneration(generation);
        frame.setWidth(kLyingWidth);
        frame.setHeight(kLyingHeight);
        frame.setStride(StrideOf(kLyingWidth, kLyingHeight));
        if (!autoscales_) frame.setPixelFormat(kLyingFormat);
        frame.setPts(position_);
        frame.setDuration(1);
        frame.setKeyframe(position_ % kKeyframeInterval == 0);
        frame.setCheck(position_ % kKeyframeInterval == 0 ? 1 : 0);
        frame.setFingerprint(static_cast<uint64_t>(position_));
        if (change) change(frame);
      });
  return true;
}

void LyingSession::ReplyNeedsSlot(uint32_t grants) {
  Reply([&](schema::Reply::Builder reply) {
    auto needs = reply.initNeedsSlot();
    needs.setEpoch(epoch_);
    needs.setGrants(grants);
  });
}

void LyingSession::ReplyNeedsPool(uint32_t width, uint32_t height) {
  Reply([&](schema::Reply::Builder reply) {
    auto needs = reply.initNeedsPool();
    needs.setEpoch(epoch_);
    needs.setWidth(width);
    needs.setHeight(height);
    needs.setPixelFormat(kLyingFormat);
  });
}

void LyingSession::GrowTo(uint32_t width, uint32_t height) {
  ReplyNeedsPool(width, height);
  const uint64_t before = slot_bytes_;
  while (slot_bytes_ == before || grants_.empty()) Listen();
}

uint32_t LyingSession::StrideOf(uint32_t width, uint32_t height) const {
  return is_native_ ? ipc::NativeGeometry(*ipc::FindPixelLayout(kLyingFormat),
                                          width, height, UINT64_MAX)
                          ->stride
                    : ipc::RgbGeometry(width, height, UINT64_MAX)->stride;
}

void LyingSession::ReplyOpenedAudio(
    const std::function<void(schema::OpenedAudio::Builder)>& change,
    size_t max_words) {
  Reply(
      [&](schema::Reply::Builder reply) {
        auto opened = reply.initOpenedAudio();
        opened.setStreamCount(1);
        opened.setCodec("made-up");
        opened.setSampleFormat("flt");
        opened.setSampleRate(kLyingRate);
        opened.setChannelCount(kLyingChannels);
        opened.setChannelLayout("stereo");
        opened.setPublishedRate(kLyingRate);
        opened.setPublishedChannels(kLyingChannels);
        auto time_base = opened.initTimeBase();
        time_base.setNumerator(1);
        time_base.setDenominator(kLyingRate);
        if (change) change(opened);
      },
      max_words);
}

bool LyingSession::PublishSamples(
    const std::function<void(schema::PublishedSamples::Builder)>& change) {
  if (grants_.empty()) return false;
  const auto [slot, generation] = grants_.front();
  grants_.pop_front();
  const int64_t count = std::min(
      {kLyingBlock, kLyingSamples - position_,
       static_cast<int64_t>(std::min<uint64_t>(frames_left_, kLyingBlock))});
  auto* out = reinterpret_cast<float*>(pool().data() + slot * slot_bytes_);
  for (uint32_t channel = 0; channel < kLyingChannels; ++channel) {
    for (int64_t i = 0; i < count; ++i) {
      *out++ = static_cast<float>(position_ + i);
    }
  }
  ++published_;
  Reply(
      [&, slot = slot, generation = generation](schema::Reply::Builder reply) {
        auto samples = reply.initSamples();
        samples.setEpoch(epoch_);
        samples.setSlot(slot);
        samples.setGeneration(generation);
        samples.setFirst(position_);
        samples.setCount(static_cast<uint32_t>(count));
        if (change) change(samples);
      });
  position_ += count;
  frames_left_ -= static_cast<uint64_t>(count);
  return true;
}

void LyingSession::ReplyLostSamples(int64_t first, int64_t count,
                                    schema::Sign sign) {
  Reply([&](schema::Reply::Builder reply) {
    auto lost = reply.initLostSamples();
    lost.setEpoch(epoch_);
    lost.setFirst(first);
    lost.setCount(count);
    lost.setSign(sign);
  });
}

void LyingSession::ReplySkipping(int64_t reached) {
  Reply([&](schema::Reply::Builder reply) {
    auto skipping = reply.initSkipping();
    skipping.setEpoch(epoch_);
    skipping.setReached(reached);
  });
}

void LyingSession::WakeHost() {
  if (descriptors_.size() > kWakeHost) {
    const uint64_t one = 1;
    (void)!::write(descriptors_[kWakeHost].get(), &one, sizeof(one));
  }
  header()->wakes.fetch_add(1);
  ::syscall(SYS_futex, &header()->wakes, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void LyingSession::FillEventfd() {
  if (descriptors_.size() <= kWakeHost) return;
  const uint64_t most = UINT64_MAX - 1;
  (void)!::write(descriptors_[kWakeHost].get(), &most, sizeof(most));
}

void LyingSession::PublishRecord(uint32_t length, uint64_t bytes) {
  const uint64_t record_header = length;
  std::memcpy(next_record(), &record_header, sizeof(record_header));
  header()->write_cursor.fetch_add(bytes);
  WakeHost();
}

void LyingSession::PublishWords(const std::vector<uint64_t>& words) {
  const size_t bytes = words.size() * sizeof(uint64_t);
  std::memcpy(next_record() + sizeof(uint64_t), words.data(), bytes);
  PublishRecord(static_cast<uint32_t>(bytes), sizeof(uint64_t) + bytes);
}

std::byte* LyingSession::next_record() {
  const uint64_t at =
      header()->write_cursor.load() & (ipc::RingGeometry::kReplyRingBytes - 1);
  return replies_->writable_bytes().data() + ipc::RingGeometry::kRingOffset +
         at;
}

}  // namespace bulkhead::tests
