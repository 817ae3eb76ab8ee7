// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/health/clip_stream.h"

#include <capnp/message.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/base/picture_md5.h"
#include "core/supervisor/health/built_in_clip.h"
#include "ipc/shared_region.h"

namespace bulkhead::health {
namespace {

namespace schema = ipc::schema;

// The built-in clip has these sizes, and so have the tests' own clips.
constexpr uint32_t kWidth = 64;
constexpr uint32_t kHeight = 48;

// Returns the MD5 of a picture whose bytes are all `value`.
std::string Md5Of(std::byte value) {
  const std::vector<std::byte> pixels(3 * kWidth * kHeight, value);
  return PictureMd5(pixels.data(), kHeight, 3 * kWidth, 3 * kWidth);
}

class ClipStreamTest : public ::testing::Test {
 protected:
  // capnp's message builders may throw from their destructor; a test's may not.
  ~ClipStreamTest() noexcept override = default;

  schema::Reply::Builder reply() { return reply_; }

  schema::Opened::Builder Opened() {
    auto opened = reply_.initOpened();
    opened.setWidth(kWidth);
    opened.setHeight(kHeight);
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
  // Publishes a picture, all of whose bytes are `value`.
  schema::PublishedFrame::Builder PublishedFrame(std::byte value = std::byte{
                                                     1}) {
    const auto grant = pool_->ledger().TakeForGrant().value();
    const uint64_t bytes = pool_->slot_bytes();
    const ipc::MappedRegion memory =
        ipc::MappedRegion::Map(pool_->fd(), true, bytes).value();
    std::memset(memory.writable_bytes().data() + grant.slot * bytes,
                static_cast<int>(value), bytes);
    auto frame = reply_.initFrame();
    frame.setSlot(grant.slot);
    frame.setGeneration(grant.generation);
    frame.setWidth(kWidth);
    frame.setHeight(kHeight);
    frame.setStride(3 * kWidth);
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

  Status OpenedAs(ClipStream& stream) {
    const auto judged = stream.JudgeOpened(reply_.asReader());
    return judged.value_or(Status(Code::kInternal, "of another kind"));
  }
  Status Output(ClipStream& stream) {
    const auto judged = stream.JudgeOutput(
        reply_.asReader(), &stream == &audio_ ? sound_pool_ : pool_);
    return judged.value_or(Status(Code::kInternal, "of another kind"));
  }
  // Makes the pool for the pictures of an opened stream.
  void OpenWithPool(ClipStream& stream) {
    Opened();
    EXPECT_TRUE(OpenedAs(stream).ok());
    pool_ = stream.MakePool().value();
  }

  const KnownClip video_clip_ = BuiltInVideo();
  const KnownClip audio_clip_ = BuiltInSound();
  // Three pictures, of which each byte is 1, 2 or 3.
  const KnownClip own_clip_ = {.title = "its own clip",
                               .file_name = "own.ivf",
                               .media = "media",
                               .picture_md5s = {{Md5Of(std::byte{1})},
                                                {"f", Md5Of(std::byte{2})},
                                                {Md5Of(std::byte{3})}},
                               .reference = "bulkhead.toml"};
  ClipStream video_{video_clip_};
  ClipStream audio_{audio_clip_};
  ClipStream own_{own_clip_};
  std::shared_ptr<worker_protocol::FramePool> pool_;
  const std::shared_ptr<worker_protocol::FramePool> sound_pool_ =
      audio_.MakePool().value();
  capnp::MallocMessageBuilder message_;
  schema::Reply::Builder reply_ = message_.initRoot<schema::Reply>();
};

TEST_F(ClipStreamTest, NobodyCanChangeTheMedia) {
  for (const ClipStream* stream : {&video_, &audio_, &own_}) {
    const ipc::UniqueFd media = stream->MakeMedia().value();
    struct stat file;
    ASSERT_EQ(::fstat(media.get(), &file), 0);
    EXPECT_EQ(file.st_size, stream->Opening(0).media_bytes);
    EXPECT_LT(::pwrite(media.get(), "x", 1, 0), 0);
  }
}

TEST_F(ClipStreamTest, APictureOfNoSizeOrTooLargeIsABreach) {
  Opened().setWidth(0);
  EXPECT_EQ(OpenedAs(video_).code(), Code::kBackendMisbehaved);
  Opened().setHeight(ClipStream::kMaxPixels / kWidth + 1);
  EXPECT_EQ(OpenedAs(video_).code(), Code::kBackendMisbehaved);
}

TEST_F(ClipStreamTest, TheSoundIsRecognisedByItsFormat) {
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

TEST_F(ClipStreamTest, AnAnswerOfAnotherKindIsLeftToTheCaller) {
  OpenWithPool(video_);
  EXPECT_FALSE(audio_.JudgeOpened(reply().asReader()));
  OpenedAudio();
  EXPECT_FALSE(video_.JudgeOpened(reply().asReader()));
  PublishedFrame();
  EXPECT_FALSE(audio_.JudgeOutput(reply().asReader(), sound_pool_));
  Samples(1);
  EXPECT_FALSE(video_.JudgeOutput(reply().asReader(), pool_));
}

TEST_F(ClipStreamTest, EachPictureIsCompared) {
  OpenWithPool(own_);
  for (const int value : {1, 2, 3}) {
    EXPECT_FALSE(own_.finished());
    PublishedFrame(std::byte(value));
    const Status judged = Output(own_);
    EXPECT_TRUE(judged.ok()) << judged;
  }
  EXPECT_TRUE(own_.finished());
}

TEST_F(ClipStreamTest, TheFirstWrongPictureIsNamed) {
  OpenWithPool(own_);
  PublishedFrame(std::byte{1});
  EXPECT_TRUE(Output(own_).ok());
  PublishedFrame(std::byte{3});
  const Status judged = Output(own_);
  EXPECT_EQ(judged.code(), Code::kBackendUnavailable);
  EXPECT_EQ(judged.message().rfind("frame 1 is not the picture that "
                                   "bulkhead.toml gives",
                                   0),
            0u)
      << judged;
  EXPECT_FALSE(own_.finished());
}

TEST_F(ClipStreamTest, APictureThatIsMissingIsNamed) {
  OpenWithPool(own_);
  PublishedFrame(std::byte{1});
  EXPECT_TRUE(Output(own_).ok());
  reply().setEndOfStream(1);
  const Status judged = Output(own_);
  EXPECT_EQ(judged.code(), Code::kBackendUnavailable);
  EXPECT_EQ(judged.message(), "it ends before frame 1, which is one of 3");
}

TEST_F(ClipStreamTest, ThePictureOfTheBuiltInClipIsNotAnyOne) {
  OpenWithPool(video_);
  PublishedFrame();
  EXPECT_EQ(Output(video_).code(), Code::kBackendUnavailable);
}

TEST_F(ClipStreamTest, ASlotOrASizeThatWasNotGrantedIsABreach) {
  OpenWithPool(own_);
  PublishedFrame(std::byte{1});
  EXPECT_TRUE(Output(own_).ok());
  // The same slot a second time.
  EXPECT_EQ(Output(own_).code(), Code::kBackendMisbehaved);
  PublishedFrame().setWidth(kWidth + 1);
  EXPECT_EQ(Output(own_).code(), Code::kBackendMisbehaved);
}

TEST_F(ClipStreamTest, SamplesOfTheSoundAreAdopted) {
  Samples(kBuiltInSoundSamples);
  EXPECT_TRUE(Output(audio_).ok());
  Samples(kBuiltInSoundSamples).setFirst(1);
  EXPECT_EQ(Output(audio_).code(), Code::kBackendMisbehaved);
}

TEST_F(ClipStreamTest, SamplesThatAreNoSilenceAreWrong) {
  const auto slot = Samples(kBuiltInSoundSamples).getSlot();
  const ipc::MappedRegion memory =
      ipc::MappedRegion::Map(sound_pool_->fd(), true, 1).value();
  memory.writable_bytes()[slot * sound_pool_->slot_bytes() +
                          sizeof(float) * kBuiltInSoundSamples - 1] =
      std::byte{1};
  EXPECT_EQ(Output(audio_).code(), Code::kBackendUnavailable);
  EXPECT_FALSE(audio_.finished());
}

TEST_F(ClipStreamTest, MoreSamplesThanTheSoundHasAreRefused) {
  Samples(kBuiltInSoundSamples + 1);
  EXPECT_EQ(Output(audio_).code(), Code::kBackendMisbehaved);
}

TEST_F(ClipStreamTest, AnEmptyStreamIsAFailure) {
  reply().setEndOfStream(1);
  EXPECT_EQ(Output(video_).code(), Code::kBackendUnavailable);
  EXPECT_EQ(Output(audio_).code(), Code::kBackendUnavailable);
}

}  // namespace
}  // namespace bulkhead::health
