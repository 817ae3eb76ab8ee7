// SPDX-License-Identifier: Apache-2.0
#include "core/base/device_name.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/text.h"

namespace bulkhead {
namespace {

TEST(DeviceNameTest, ReadsTheThreeForms) {
  EXPECT_EQ(ParseDeviceName("cpu").value(),
            (DeviceName{"", "cpu", std::nullopt}));
  EXPECT_EQ(ParseDeviceName("openreg:1").value(),
            (DeviceName{"", "openreg", 1}));
  EXPECT_EQ(ParseDeviceName("acme/npu:65535").value(),
            (DeviceName{"acme", "npu", 65535}));
  for (const char* text : {"cpu", "a_b-c.d:0", "acme/npu", "acme/npu:3"}) {
    EXPECT_EQ(ParseDeviceName(text)->ToString(), text);
  }
}

TEST(DeviceNameTest, AnythingElseIsRefusedByName) {
  for (const std::string& text : {std::string(),
                                  std::string("cpu:"),
                                  std::string(":1"),
                                  std::string("cpu:-1"),
                                  std::string("cpu:01"),
                                  std::string("cpu:65536"),
                                  std::string("cpu:99999999999999999999"),
                                  std::string("cpu:1x"),
                                  std::string("cpu: 1"),
                                  std::string("cpu:+1"),
                                  std::string("a/b/c"),
                                  std::string("/cpu"),
                                  std::string("a/"),
                                  std::string("c pu"),
                                  std::string("../x"),
                                  std::string("-x"),
                                  std::string("cpu:1:2"),
                                  std::string("cpu\0", 4),
                                  std::string("c\xff"),
                                  std::string(65, 'a')}) {
    const Result<DeviceName> got = ParseDeviceName(text);
    ASSERT_FALSE(got) << Quoted(text);
    EXPECT_EQ(got.error().message().rfind(Quoted(text), 0), 0u);
  }
}

}  // namespace
}  // namespace bulkhead
