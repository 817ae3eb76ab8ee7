// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/description_validation.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;
using Stream = schema::StreamDescription::Builder;
using Container = schema::ContainerDescription::Builder;
using Kind = schema::StreamDescription::Kind;

Result<StreamMetadata> StreamOf(const std::function<void(Stream)>& change) {
  capnp::MallocMessageBuilder message;
  auto stream = message.initRoot<schema::StreamDescription>();
  stream.setKind(Kind::VIDEO);
  stream.initTimeBase().setNumerator(1);
  stream.getTimeBase().setDenominator(25);
  change(stream);
  return ValidateStream(stream.asReader(), {.duration_seconds = 9});
}

Result<ClaimedContainer> ContainerOf(
    const std::function<void(Container)>& change) {
  capnp::MallocMessageBuilder message;
  auto container = message.initRoot<schema::ContainerDescription>();
  change(container);
  return ValidateContainer(container.asReader(), 3);
}

TEST(ValidateStream, TakesWhatIsPlausible) {
  const auto stream = StreamOf([](Stream s) {
    s.setCodec("h264");
    s.setStart(25);
    s.setDuration(100);
    s.setFrameCount(99);
    auto content = s.getContent();
    content.setScanned(true);
    content.setPacketCount(50);
    content.setBegin(25);
    content.setEnd(75);
  });
  ASSERT_TRUE(stream) << stream.error();
  EXPECT_EQ(stream->codec, "h264");
  EXPECT_EQ(stream->begin_seconds_from_header, 1);
  EXPECT_EQ(stream->duration_seconds_from_header, 4);
  EXPECT_EQ(stream->frame_count_from_header, 99u);
  EXPECT_EQ(stream->frame_count, 50u);
  EXPECT_EQ(stream->duration_seconds, 2);
  EXPECT_EQ(stream->average_fps, 25);
}

TEST(ValidateStream, TextsAreShortAndPrintable) {
  const auto stream = StreamOf([](Stream s) {
    s.setTitle("a\x1b[31mb" + std::string(5000, 'x'));
    s.setLanguage("e\nn");
  });
  ASSERT_TRUE(stream) << stream.error();
  EXPECT_TRUE(stream->title.starts_with("a?[31mb"));
  EXPECT_LE(stream->title.size(), 512u);
  EXPECT_EQ(stream->language, "e?n");
}

TEST(ValidateStream, WhatMakesNoSenseIsUnknown) {
  const auto stream = StreamOf([](Stream s) {
    s.getTimeBase().setDenominator(0);
    s.setStart(7);
    s.setDuration(-5);
    s.setBitRate(-1);
    s.initAverageFrameRate().setNumerator(25);
    auto content = s.getContent();
    content.setScanned(true);
    content.setBegin(10);
    content.setEnd(5);
  });
  ASSERT_TRUE(stream) << stream.error();
  EXPECT_EQ(stream->begin_seconds_from_header, std::nullopt);
  EXPECT_EQ(stream->bit_rate, std::nullopt);
  EXPECT_EQ(stream->average_fps, std::nullopt);
  EXPECT_EQ(stream->end_seconds_from_content, std::nullopt);
  EXPECT_EQ(stream->duration_seconds, 9) << "of the container";
}

TEST(ValidateStream, LiesAreRefused) {
  EXPECT_EQ(StreamOf([](Stream s) { s.setIndex(1); }).error().code(),
            Code::kBackendMisbehaved);
  for (const int rotation : {45, -90, 360}) {
    EXPECT_FALSE(StreamOf([&](Stream s) { s.setRotation(rotation); }));
  }
}

TEST(ValidateContainer, LiesAreRefused) {
  EXPECT_TRUE(ContainerOf([](Container c) { c.setStreamCount(3); }));
  EXPECT_FALSE(ContainerOf([](Container c) { c.setStreamCount(4); }));
  EXPECT_FALSE(ContainerOf([](Container c) {
    c.setStreamCount(3);
    c.setBestAudioStream(3);
  }));
  EXPECT_FALSE(ContainerOf([](Container c) {
    c.setStreamCount(3);
    c.setBestVideoStream(3);
  }));
}

TEST(ValidateContainer, TimesAreSeconds) {
  const auto claimed = ContainerOf([](Container c) {
    c.setDuration(2'500'000);
    c.setBitRate(800);
  });
  ASSERT_TRUE(claimed) << claimed.error();
  EXPECT_EQ(claimed->container.duration_seconds, 2.5);
  EXPECT_EQ(claimed->container.begin_seconds, std::nullopt);
  EXPECT_EQ(claimed->container.bit_rate, 800);
  EXPECT_EQ(claimed->container.best_video_stream, std::nullopt);
}

}  // namespace
}  // namespace bulkhead::worker_protocol
