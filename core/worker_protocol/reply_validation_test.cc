// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/reply_validation.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "ipc/damage_sign.h"

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;
using Opened = schema::Opened::Builder;

Result<VideoMetadata> Validate(const std::function<void(Opened)>& change) {
  capnp::MallocMessageBuilder message;
  auto opened = message.initRoot<schema::Opened>();
  opened.setStreamCount(1);
  opened.setWidth(64);
  opened.setHeight(48);
  opened.initTimeBase().setNumerator(1);
  opened.getTimeBase().setDenominator(25);
  change(opened);
  return ValidateOpened(opened.asReader(), Limits{.frame_pixels = 10'000});
}

void ExpectRefused(const std::function<void(Opened)>& change) {
  const auto metadata = Validate(change);
  ASSERT_FALSE(metadata);
  EXPECT_EQ(metadata.error().code(), Code::kBackendMisbehaved);
  EXPECT_FALSE(metadata.error().message().empty());
}

TEST(ValidateOpenedTest, TakesWhatIsPlausible) {
  const auto metadata = Validate([](Opened o) {
    o.setStreamCount(3);
    o.setStreamIndex(2);
    o.setCodec("h264");
    o.setContainer("mov,mp4");
    o.setRotation(270);
    o.setVerticalFlip(true);
    o.setFrameCountFromHeader(50);
    o.setDurationFromHeader(50);
    o.setStartFromHeader(-25);
    o.setColorRange(2);
  });
  ASSERT_TRUE(metadata) << metadata.error();
  EXPECT_EQ(metadata->width, 64u);
  EXPECT_EQ(metadata->stream_index, 2);
  EXPECT_EQ(metadata->codec, "h264");
  EXPECT_EQ(metadata->rotation, 270);
  EXPECT_TRUE(metadata->vertical_flip);
  EXPECT_EQ(metadata->frame_count_from_header, 50u);
  EXPECT_DOUBLE_EQ(*metadata->duration_seconds_from_header, 2);
  EXPECT_DOUBLE_EQ(*metadata->begin_seconds_from_header, -1);
  EXPECT_EQ(metadata->color_range, 2);
}

TEST(ValidateOpenedTest, KeepsWhatIsNotToldUntold) {
  const auto metadata = Validate([](Opened o) {
    o.setDurationFromHeader(INT64_MIN);
    o.setStartFromHeader(INT64_MIN);
  });
  ASSERT_TRUE(metadata) << metadata.error();
  EXPECT_FALSE(metadata->frame_count_from_header);
  EXPECT_FALSE(metadata->duration_seconds_from_header);
  EXPECT_FALSE(metadata->begin_seconds_from_header);
}

TEST(ValidateOpenedTest, FramesAndTheirRateComeBeforeTheContainersDuration) {
  const auto counted = Validate([](Opened o) {
    o.setDurationFromHeader(INT64_MIN);
    o.setFrameCountFromHeader(50);
    o.initBaseFrameRate().setNumerator(10);
    o.getBaseFrameRate().setDenominator(1);
    o.setContainerDuration(200'000'000);
  });
  ASSERT_TRUE(counted) << counted.error();
  EXPECT_EQ(counted->average_fps, 10);
  EXPECT_EQ(counted->duration_seconds, 5);
  const auto uncounted = Validate([](Opened o) {
    o.setDurationFromHeader(INT64_MIN);
    o.setContainerDuration(200'000'000);
  });
  ASSERT_TRUE(uncounted) << uncounted.error();
  EXPECT_EQ(uncounted->duration_seconds, 200);
  EXPECT_FALSE(uncounted->duration_seconds_from_header);
}

TEST(ValidateOpenedTest, RefusesImpossibleSizes) {
  ExpectRefused([](Opened o) { o.setWidth(0); });
  ExpectRefused([](Opened o) { o.setHeight(0); });
  ExpectRefused([](Opened o) { o.setWidth(10'001), o.setHeight(1); });
  ExpectRefused([](Opened o) { o.setWidth(100), o.setHeight(101); });
  ExpectRefused([](Opened o) { o.setWidth(UINT32_MAX); });
  // Whose product is zero in 32 bits.
  ExpectRefused([](Opened o) { o.setWidth(1 << 16), o.setHeight(1 << 16); });
  ExpectRefused([](Opened o) { o.setWidth(1u << 31), o.setHeight(1u << 31); });
  EXPECT_TRUE(Validate([](Opened o) { o.setWidth(100), o.setHeight(100); }));
}

TEST(ValidateOpenedTest, RefusesStreamsThatDoNotExist) {
  ExpectRefused([](Opened o) { o.setStreamIndex(-1); });
  ExpectRefused([](Opened o) { o.setStreamIndex(INT32_MIN); });
  ExpectRefused([](Opened o) { o.setStreamIndex(1); });
  ExpectRefused([](Opened o) { o.setStreamCount(0); });
  ExpectRefused([](Opened o) { o.setStreamCount(Limits().streams + 1); });
}

TEST(ValidateOpenedTest, RefusesImpossibleRotations) {
  for (const int rotation : {45, 360, -90, INT32_MAX, INT32_MIN, 1}) {
    ExpectRefused([&](Opened o) { o.setRotation(rotation); });
  }
}

TEST(ValidateOpenedTest, RefusesImpossibleTimeBases) {
  const auto with = [](int32_t numerator, int32_t denominator) {
    return [=](Opened o) {
      o.getTimeBase().setNumerator(numerator);
      o.getTimeBase().setDenominator(denominator);
    };
  };
  ExpectRefused(with(0, 25));
  ExpectRefused(with(1, 0));
  ExpectRefused(with(-1, 25));
  ExpectRefused(with(1, -25));
  ExpectRefused(with(INT32_MIN, INT32_MIN));
  ExpectRefused([](Opened o) { o.disownTimeBase(); });
}

TEST(ValidateOpenedTest, ForgetsImpossibleRatios) {
  const auto metadata = Validate([](Opened o) {
    o.initAverageFrameRate().setNumerator(-25);
    o.getAverageFrameRate().setDenominator(1);
    o.initSampleAspectRatio().setNumerator(1);
    o.getSampleAspectRatio().setDenominator(0);
  });
  ASSERT_TRUE(metadata) << metadata.error();
  EXPECT_EQ(metadata->average_frame_rate.denominator, 0);
  EXPECT_EQ(metadata->sample_aspect_ratio.numerator, 0);
}

TEST(ValidateOpenedTest, CutsAndCleansTexts) {
  const auto metadata = Validate([](Opened o) {
    o.setCodec(std::string(100'000, 'x'));
    o.setPixelFormat("yuv\x1b[2J");
    o.setContainer("a\nb");
  });
  ASSERT_TRUE(metadata) << metadata.error();
  EXPECT_EQ(metadata->codec, std::string(64, 'x'));
  EXPECT_EQ(metadata->pixel_format, "yuv?[2J");
  EXPECT_EQ(metadata->container, "a?b");
}

TEST(ValidateOpenedTest, RefusesANegativeBitRate) {
  const auto metadata = Validate([](Opened o) { o.setBitRate(INT64_MIN); });
  EXPECT_TRUE(!metadata || metadata->bit_rate >= 0);
}

Result<ClaimedFailure> Claim(uint16_t code, const std::string& text) {
  capnp::MallocMessageBuilder message;
  auto failure = message.initRoot<schema::Failure>();
  failure.setCode(static_cast<schema::ErrorCode>(code));
  failure.setMessage(text);
  return ValidateFailure(failure.asReader());
}

TEST(ValidateFailureTest, TakesWhatAWorkerCanKnow) {
  for (const Code code :
       {Code::kInvalidArgument, Code::kNotFound, Code::kBadInput,
        Code::kUnsupported, Code::kBackendUnavailable, Code::kResourceExhausted,
        Code::kInternal}) {
    const auto claimed = Claim(static_cast<uint16_t>(code), "why");
    ASSERT_TRUE(claimed) << claimed.error();
    EXPECT_EQ(claimed->status.code(), code);
    EXPECT_EQ(claimed->status.message(), "why");
  }
}

TEST(ValidateFailureTest, RefusesWhatOnlyTheHostCanKnow) {
  for (const Code code :
       {Code::kPoisonedInput, Code::kBackendLost, Code::kBackendMisbehaved,
        Code::kDeadlineExceeded, Code::kSandboxUnavailable}) {
    const auto claimed = Claim(static_cast<uint16_t>(code), "why");
    ASSERT_FALSE(claimed);
    EXPECT_EQ(claimed.error().code(), Code::kBackendMisbehaved);
  }
}

TEST(ValidateFailureTest, WhatTheVendorsCodeDidIsTold) {
  const auto claimed = Claim(static_cast<uint16_t>(Code::kBackendMisbehaved),
                             "it gave a picture without planes");
  ASSERT_FALSE(claimed);
  EXPECT_EQ(claimed.error().code(), Code::kBackendMisbehaved);
  EXPECT_EQ(claimed.error().message(), "it gave a picture without planes");
}

TEST(ValidateFailureTest, RefusesCodesThatDoNotExist) {
  for (const uint16_t code : {13, 9999, 0xfffe, 0xffff}) {
    EXPECT_FALSE(Claim(code, "why")) << code;
  }
}

TEST(ValidateFailureTest, CutsAndCleansItsMessage) {
  const auto claimed = Claim(static_cast<uint16_t>(Code::kBadInput),
                             "\x1b]0;title\a" + std::string(100'000, 'x'));
  ASSERT_TRUE(claimed) << claimed.error();
  EXPECT_EQ(claimed->status.message().size(), 512u);
  EXPECT_TRUE(claimed->status.message().starts_with("?]0;title?x"));
}

TEST(CleanWordsTest, CutsAndCleansWhatABackendSays) {
  EXPECT_EQ(CleanWords("no \x1b[2J slices"), "no ?[2J slices");
  const std::string words(30'000, 'x');
  EXPECT_EQ(CleanWords(words.c_str()).size(), 480u);
}

TEST(SignIfKnownTest, KnowsEachSignAndNoOther) {
  constexpr int kSigns = static_cast<int>(ipc::kLastDamageSign) + 1;
  for (int i = 0; i < kSigns; ++i) {
    EXPECT_EQ(SignIfKnown(static_cast<schema::Sign>(i)),
              static_cast<ipc::DamageSign>(i));
  }
  EXPECT_FALSE(SignIfKnown(static_cast<schema::Sign>(kSigns)));
  EXPECT_FALSE(SignIfKnown(static_cast<schema::Sign>(UINT16_MAX)));
}

}  // namespace
}  // namespace bulkhead::worker_protocol
