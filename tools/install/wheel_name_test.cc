// SPDX-License-Identifier: Apache-2.0
#include "tools/install/wheel_name.h"

#include <gtest/gtest.h>

namespace bulkhead::install {
namespace {

Status Platform(const std::string& tag) {
  return ValidatePlatform(
      ParseWheelName("a-1-py3-none-" + tag + ".whl").value(), "x86_64");
}

TEST(WheelName, PartsAreTold) {
  const WheelName wheel =
      ParseWheelName(
          "Acme_Codec-1!2.0+local.1-1st-cp311.cp312-abi3-manylinux_2_17_x86_64."
          "manylinux2014_x86_64.whl")
          .value();
  EXPECT_EQ(wheel.name, "Acme_Codec");
  EXPECT_EQ(wheel.version, "1!2.0+local.1");
  EXPECT_EQ(wheel.build, "1st");
  EXPECT_EQ(wheel.python, "cp311.cp312");
  EXPECT_EQ(wheel.abi, "abi3");
  EXPECT_EQ(wheel.platform, "manylinux_2_17_x86_64.manylinux2014_x86_64");
}

TEST(WheelName, OthersAreRefused) {
  for (const char* name :
       {"acme-1.0.zip", "acme.whl", "acme-1.0-py3-none.whl",
        "a-1-b-py3-none-any.whl", "a-1-2-3-py3-none-any.whl",
        "-1-py3-none-any.whl", "a--py3-none-any.whl", "a-1-py3--any.whl",
        "a b-1-py3-none-any.whl", "a-1-py3-none-a/ny.whl", ""}) {
    EXPECT_FALSE(ParseWheelName(name)) << name;
  }
}

TEST(WheelName, OneFittingPlatformIsEnough) {
  for (const char* tag :
       {"any", "linux_x86_64", "manylinux1_x86_64", "manylinux_2_28_x86_64",
        "manylinux_2_17_aarch64.linux_x86_64", "musllinux_1_2_x86_64"}) {
    EXPECT_TRUE(Platform(tag).ok()) << tag;
  }
}

TEST(WheelName, AnotherMachineIsNamed) {
  const Status arm = Platform("manylinux_2_17_aarch64.manylinux2014_aarch64");
  EXPECT_EQ(arm.code(), Code::kUnsupported);
  EXPECT_NE(arm.message().find("built for aarch64, this machine is x86_64"),
            std::string::npos)
      << arm;
  EXPECT_NE(Platform("macosx_11_0_x86_64").message().find("macosx_11_0_x86_64"),
            std::string::npos);
  EXPECT_FALSE(Platform("linux_i686").ok());
  EXPECT_FALSE(Platform("win_amd64").ok());
}

}  // namespace
}  // namespace bulkhead::install
