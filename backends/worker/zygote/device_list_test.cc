// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/device_list.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace bulkhead::worker::zygote {
namespace {

using Texts = std::vector<std::string>;

bulkhead_capability Stream(const char* codec, int32_t profile) {
  return {.size = sizeof(bulkhead_capability),
          .stream_kind = BULKHEAD_STREAM_VIDEO,
          .codec = codec,
          .profile = profile,
          .max_width = 4096,
          .max_height = 2304,
          .formats = nullptr,
          .format_count = 0};
}

bulkhead_device DeviceWith(const std::vector<bulkhead_capability>& streams) {
  bulkhead_device device = {
      .size = sizeof(device), .name = "npu", .description = nullptr};
  device.capabilities = streams.data();
  device.capability_count = streams.size();
  return device;
}

TEST(DeviceListTest, ProfilesAreNamedAndStreamsThatAreAlikeAreOneEntry) {
  const std::vector<bulkhead_capability> streams = {
      Stream("h264", 77), Stream("h264", 100), Stream("vp8", -1),
      Stream("vp9", -1), Stream("av1", 7)};
  const EmittedDevice device = CopyDevice(DeviceWith(streams));
  ASSERT_EQ(device.streams.size(), 3u);
  EXPECT_EQ(device.streams[0].codecs, Texts{"h264"});
  EXPECT_EQ(device.streams[0].profiles, (Texts{"Main", "High"}));
  EXPECT_EQ(device.streams[1].codecs, (Texts{"vp8", "vp9"}));
  EXPECT_TRUE(device.streams[1].profiles.empty());
  EXPECT_EQ(device.streams[1].max_width, 4096u);
  // FFmpeg has no name for this one.
  EXPECT_EQ(device.streams[2].profiles, Texts{"7"});
}

// [abi-1]: a backend built with an older header knows fewer fields, and one
// built with a newer header has larger elements.
TEST(DeviceListTest, StructsOfOtherReleasesAreRead) {
  const std::vector<bulkhead_capability> streams = {Stream("h264", -1)};
  bulkhead_device device = DeviceWith(streams);
  device.size = offsetof(bulkhead_device, capabilities);
  EXPECT_TRUE(CopyDevice(device).streams.empty());

  struct Later {
    bulkhead_capability capability;
    uint64_t field;
  };
  Later later[2] = {{Stream("h264", -1), 1}, {Stream("vp9", -1), 2}};
  later[0].capability.size = later[1].capability.size = sizeof(Later);
  device = DeviceWith(streams);
  device.capabilities = &later[0].capability;
  device.capability_count = 2;
  const EmittedDevice copy = CopyDevice(device);
  ASSERT_EQ(copy.streams.size(), 1u);
  EXPECT_EQ(copy.streams[0].codecs, (Texts{"h264", "vp9"}));
}

TEST(DeviceListTest, DevicesThatDecodeTheSameTellItOnce) {
  const std::vector<bulkhead_capability> streams = {Stream("h264", -1)};
  const EmittedDevice first = CopyDevice(DeviceWith(streams));
  EmittedDevice other = first;
  other.streams[0].max_width = 0;
  capnp::MallocMessageBuilder message;
  auto devices = message.initRoot<ipc::schema::DeviceList>().initDevices(3);
  Write(first, nullptr, devices[0]);
  Write(first, &first, devices[1]);
  Write(other, &first, devices[2]);
  EXPECT_EQ(devices[0].getCapabilities().getStreams().size(), 1u);
  EXPECT_FALSE(devices[0].getCapabilities().getAsBefore());
  EXPECT_EQ(devices[1].getCapabilities().getStreams().size(), 0u);
  EXPECT_TRUE(devices[1].getCapabilities().getAsBefore());
  EXPECT_EQ(devices[2].getCapabilities().getStreams().size(), 1u);
}

}  // namespace
}  // namespace bulkhead::worker::zygote
