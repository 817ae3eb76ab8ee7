// SPDX-License-Identifier: Apache-2.0
#include "core/control/capability_messages.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <string>

namespace bulkhead {
namespace {

namespace schema = ipc::schema;

TEST(CapabilityMessagesTest, WhatWasWrittenIsRead) {
  const DeviceCapabilities device{
      .streams = {{.kind = "video",
                   .codecs = {"h264", "hevc"},
                   .profiles = {"Main", "High 4:2:2"},
                   .formats = {"nv12"},
                   .max_width = 4096,
                   .max_height = 2304},
                  {.kind = "audio", .codecs = {"aac"}}},
      .max_sessions = 8,
      .outputs = {"own-memory", "runtime-buffers"}};
  capnp::MallocMessageBuilder message;
  Write(device, message.initRoot<schema::Capabilities>());
  TextBudget budget;
  const auto read = ReadCapabilities(message.getRoot<schema::Capabilities>(),
                                     nullptr, budget);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(*read, device);
}

TEST(CapabilityMessagesTest, ADeviceMayHaveTheStreamsOfTheOneBefore) {
  DeviceCapabilities before;
  before.streams = {
      {.kind = "video", .codecs = std::vector<std::string>(4000, "x")}};
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<schema::Capabilities>();
  root.setAsBefore(true);
  TextBudget budget;
  const auto second = ReadCapabilities(root.asReader(), &before, budget);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->streams, before.streams);
  EXPECT_TRUE(ReadCapabilities(root.asReader(), &before, budget));
  // Copies are counted.
  EXPECT_FALSE(ReadCapabilities(root.asReader(), &before, budget));
  EXPECT_TRUE(
      ReadCapabilities(root.asReader(), nullptr, budget)->streams.empty());
}

TEST(CapabilityMessagesTest, TextsAreCutAndMadeSafeToShow) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<schema::Capabilities>();
  auto codecs = root.initStreams(1)[0].initCodecs(2);
  codecs.set(0, "h264\x1b[2J\n");
  codecs.set(1, std::string(1000, 'x'));
  root.setOutputs(0xfffffffc);
  TextBudget budget;
  const auto read = ReadCapabilities(root.asReader(), nullptr, budget);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->streams[0].codecs[0], "h264?[2J?");
  EXPECT_EQ(read->streams[0].codecs[1].size(), 64u);
  EXPECT_TRUE(read->outputs.empty());
}

// A message of 64 KiB can name one list from many places.
TEST(CapabilityMessagesTest, TextsAreCountedOverTheWholeMessage) {
  capnp::MallocMessageBuilder message;
  auto streams = message.initRoot<schema::Capabilities>().initStreams(10);
  for (auto stream : streams) {
    auto codecs = stream.initCodecs(1000);
    for (unsigned i = 0; i < codecs.size(); ++i) codecs.set(i, "x");
  }
  TextBudget budget;
  const auto read = ReadCapabilities(message.getRoot<schema::Capabilities>(),
                                     nullptr, budget);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::kBackendMisbehaved);
}

}  // namespace
}  // namespace bulkhead
