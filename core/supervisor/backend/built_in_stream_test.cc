// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/built_in_stream.h"

#include <capnp/message.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/supervisor/backend/built_in_clip.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;
using discovery::StreamKind;

class BuiltInStreamTest : public ::testing::Test {
 protected:
  // capnp's message builders may throw from their destructor; a test's may not.
  ~BuiltInStreamTest() noexcept override = default;

  schema::Reply::Builder reply() { return reply_; }

  schema::Opened::Builder Opened() {
    auto opened = reply_.initOpened();
    opened.setWidth(kBuiltInClipWidth);
    opened.setHeight(kBuiltInClipHeight);
    opened.setStreamCount(1);
    opened.initTimeBase().setNumerator(1);
    opened.getTimeBase().setDenominator(1000);
    return opened;
  }
  schema::OpenedAudio::Builder OpenedAudio() {
    auto opened = reply_.initOpenedAudio();
    opened.setSampleRate(kBuiltInSoundRate);
    opened.setChannelCount(1);
    opened.setPublishedRate(kBuiltInSoundRate);
    opened.setPublishedChannels(1);
    opened.setStreamCount(1);
    opened.initTimeBase().setNumerator(1);
    opened.getTimeBase().setDenominator(kBuiltInSoundRate);
    return opened;
  }
  schema::PublishedFrame::Builder PublishedFrame() {
    const auto grant = pool_->ledger().TakeForGrant().value();
    auto frame = reply_.initFrame();
    frame.setSlot(grant.slot);
    frame.setGeneration(grant.generation);
    frame.setWidth(kBuiltInClipWidth);
    frame.setHeight(kBuiltInClipHeight);
    frame.setStride(3 * kBuiltInClipWidth);
    return frame;
  }
  schema::PublishedSamples::Builder Samples(uint32_t count) {
    const auto grant = sound_pool_->ledger().TakeForGrant().value();
    auto samples = reply_.initSamples();
    samples.setSlot(grant.slot);
    samples.setGeneration(grant.generation);
    samples.setCount(count);
    return samples;
  }

  Status OpenedAs(const BuiltInStream& stream) {
    const auto judged = stream.JudgeOpened(reply_.asReader());
    return judged.value_or(Status(Code::kInternal, "of another kind"));
  }
  Status Output(const BuiltInStream& stream) {
    const auto judged = stream.JudgeOutput(
        reply_.asReader(), &stream == &video_ ? pool_ : sound_pool_);
    return judged.value_or(Status(Code::kInternal, "of another kind"));
  }

  const BuiltInStream video_{StreamKind::kVideo};
  const BuiltInStream audio_{StreamKind::kAudio};
  const std::shared_ptr<session::FramePool> pool_ = video_.MakePool().value();
  const std::shared_ptr<session::FramePool> sound_pool_ =
      audio_.MakePool().value();
  capnp::MallocMessageBuilder message_;
  schema::Reply::Builder reply_ = message_.initRoot<schema::Reply>();
};

TEST_F(BuiltInStreamTest, NobodyCanChangeTheMedia) {
  for (const BuiltInStream* stream : {&video_, &audio_}) {
    const ipc::UniqueFd media = stream->MakeMedia().value();
    struct stat file;
    ASSERT_EQ(::fstat(media.get(), &file), 0);
    EXPECT_EQ(file.st_size, stream->Opening(0).media_bytes);
    EXPECT_LT(::pwrite(media.get(), "x", 1, 0), 0);
  }
}

TEST_F(BuiltInStreamTest, TheClipIsRecognisedByItsShape) {
  Opened();
  EXPECT_TRUE(OpenedAs(video_).ok());
  Opened().setWidth(kBuiltInClipWidth + 1);
  EXPECT_EQ(OpenedAs(video_).code(), Code::kBackendUnavailable);
  Opened().setHeight(kBuiltInClipHeight - 1);
  EXPECT_EQ(OpenedAs(video_).code(), Code::kBackendUnavailable);
  Opened().setWidth(0);
  EXPECT_EQ(OpenedAs(video_).code(), Code::kBackendMisbehaved);
}

TEST_F(BuiltInStreamTest, TheSoundIsRecognisedByItsFormat) {
  OpenedAudio();
  EXPECT_TRUE(OpenedAs(audio_).ok());
  auto stereo = OpenedAudio();
  stereo.setChannelCount(2);
  stereo.setPublishedChannels(2);
  EXPECT_EQ(OpenedAs(audio_).code(), Code::kBackendUnavailable);
  auto faster = OpenedAudio();
  faster.setSampleRate(2 * kBuiltInSoundRate);
  faster.setPublishedRate(2 * kBuiltInSoundRate);
  EXPECT_EQ(OpenedAs(audio_).code(), Code::kBackendUnavailable);
  OpenedAudio().setPublishedRate(kBuiltInSoundRate + 1);
  EXPECT_EQ(OpenedAs(audio_).code(), Code::kBackendMisbehaved);
}

TEST_F(BuiltInStreamTest, AnAnswerOfAnotherKindIsLeftToTheCaller) {
  Opened();
  EXPECT_FALSE(audio_.JudgeOpened(reply().asReader()));
  OpenedAudio();
  EXPECT_FALSE(video_.JudgeOpened(reply().asReader()));
  PublishedFrame();
  EXPECT_FALSE(audio_.JudgeOutput(reply().asReader(), sound_pool_));
  Samples(1);
  EXPECT_FALSE(video_.JudgeOutput(reply().asReader(), pool_));
}

TEST_F(BuiltInStreamTest, APictureOfTheClipIsAdopted) {
  PublishedFrame();
  EXPECT_TRUE(Output(video_).ok());
  // The same slot a second time.
  EXPECT_EQ(Output(video_).code(), Code::kBackendMisbehaved);
  PublishedFrame().setWidth(kBuiltInClipWidth + 1);
  EXPECT_EQ(Output(video_).code(), Code::kBackendMisbehaved);
}

TEST_F(BuiltInStreamTest, SamplesOfTheSoundAreAdopted) {
  Samples(kBuiltInSoundSamples);
  EXPECT_TRUE(Output(audio_).ok());
  Samples(kBuiltInSoundSamples).setFirst(1);
  EXPECT_EQ(Output(audio_).code(), Code::kBackendMisbehaved);
}

TEST_F(BuiltInStreamTest, MoreSamplesThanTheSoundHasAreRefused) {
  Samples(kBuiltInSoundSamples + 1);
  EXPECT_EQ(Output(audio_).code(), Code::kBackendMisbehaved);
}

TEST_F(BuiltInStreamTest, AnEmptyStreamIsAFailure) {
  reply().setEndOfStream(1);
  EXPECT_EQ(Output(video_).code(), Code::kBackendUnavailable);
  EXPECT_EQ(Output(audio_).code(), Code::kBackendUnavailable);
}

}  // namespace
}  // namespace bulkhead::supervisor
