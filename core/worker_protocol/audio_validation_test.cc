// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/audio_validation.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;
using Opened = schema::OpenedAudio::Builder;

Result<OpenedAudio> Validate(const std::function<void(Opened)>& change,
                             const AudioOptions& options = {}) {
  capnp::MallocMessageBuilder message;
  auto opened = message.initRoot<schema::OpenedAudio>();
  opened.setStreamCount(2);
  opened.setStreamIndex(1);
  opened.setCodec("aac");
  opened.setSampleRate(44100);
  opened.setChannelCount(2);
  opened.setPublishedRate(44100);
  opened.setPublishedChannels(2);
  opened.initTimeBase().setNumerator(1);
  opened.getTimeBase().setDenominator(1000);
  opened.setFirstPts(1500);
  change(opened);
  return ValidateOpenedAudio(opened.asReader(), options, Limits());
}

void ExpectRefused(const std::function<void(Opened)>& change,
                   const AudioOptions& options = {}) {
  const auto opened = Validate(change, options);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), Code::kBackendMisbehaved);
  EXPECT_FALSE(opened.error().message().empty());
}

TEST(ValidateOpenedAudioTest, TakesWhatIsPlausible) {
  const auto opened = Validate([](Opened o) {
    o.setDurationFromHeader(4000);
    o.setStartFromHeader(-20);
  });
  ASSERT_TRUE(opened) << opened.error();
  EXPECT_EQ(opened->metadata.codec, "aac");
  EXPECT_EQ(opened->metadata.sample_rate, 44100u);
  EXPECT_DOUBLE_EQ(opened->metadata.begin_seconds, 1.5);
  EXPECT_DOUBLE_EQ(*opened->metadata.duration_seconds_from_header, 4);
  EXPECT_DOUBLE_EQ(*opened->metadata.begin_seconds_from_header, -0.02);
}

TEST(ValidateOpenedAudioTest, TheContainersDurationIsTheLastResort) {
  const auto opened = Validate([](Opened o) {
    o.setDurationFromHeader(INT64_MIN);
    o.setContainerDuration(2'500'000);
  });
  ASSERT_TRUE(opened) << opened.error();
  EXPECT_FALSE(opened->metadata.duration_seconds_from_header);
  EXPECT_EQ(opened->metadata.duration_seconds, 2.5);
  EXPECT_EQ(opened->metadata.end_seconds, 4);
}

// What is published agrees with it, so nothing else refuses it.
TEST(ValidateOpenedAudioTest, RefusesImpossibleRatesAndChannels) {
  const auto expect_impossible = [](uint32_t rate, uint32_t channels,
                                    uint32_t published_rate,
                                    uint32_t published_channels) {
    const auto opened = Validate(
        [&](Opened o) {
          o.setSampleRate(rate);
          o.setChannelCount(channels);
          o.setPublishedRate(published_rate);
          o.setPublishedChannels(published_channels);
        },
        {.sample_rate = static_cast<int>(published_rate),
         .num_channels = static_cast<int>(published_channels)});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::kBackendMisbehaved);
    EXPECT_EQ(opened.error().message(),
              "it reported audio of an impossible rate or width");
  };
  for (const uint32_t rate : {0u, kMaxSampleRate + 1}) {
    expect_impossible(rate, 2, 44100, 2);
    expect_impossible(44100, 2, rate, 2);
  }
  for (const uint32_t channels : {0u, kMaxChannels + 1}) {
    expect_impossible(44100, channels, 44100, 2);
    expect_impossible(44100, 2, 44100, channels);
  }
}

TEST(ValidateOpenedAudioTest, RefusesOtherSamplesThanWereAskedFor) {
  ExpectRefused([](Opened o) { o.setPublishedRate(48000); });
  ExpectRefused([](Opened o) { o.setPublishedChannels(1); });
  ExpectRefused([](Opened) {}, {.sample_rate = 16000});
  ExpectRefused([](Opened) {}, {.num_channels = 1});
  const auto opened = Validate(
      [](Opened o) {
        o.setPublishedRate(16000);
        o.setPublishedChannels(1);
      },
      {.sample_rate = 16000, .num_channels = 1});
  EXPECT_TRUE(opened) << opened.error();
}

TEST(ValidateOpenedAudioTest, RefusesStreamsThatDoNotExist) {
  ExpectRefused([](Opened o) { o.setStreamIndex(2); });
  ExpectRefused([](Opened o) { o.setStreamIndex(-1); });
}

TEST(ValidateOpenedAudioTest, RefusesTimeWithoutABase) {
  for (const int impossible : {0, -1}) {
    ExpectRefused([&](Opened o) { o.getTimeBase().setNumerator(impossible); });
    ExpectRefused(
        [&](Opened o) { o.getTimeBase().setDenominator(impossible); });
  }
}

TEST(ValidateOpenedAudioTest, TextsAreShortAndPrintable) {
  const auto opened = Validate([](Opened o) {
    o.setCodec(std::string(500, 'x'));
    o.setChannelLayout("a\nb\x1b[31m");
  });
  ASSERT_TRUE(opened) << opened.error();
  EXPECT_LE(opened->metadata.codec.size(), 70u);
  EXPECT_EQ(opened->metadata.channel_layout.find('\n'), std::string::npos);
  EXPECT_EQ(opened->metadata.channel_layout.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace bulkhead::worker_protocol
