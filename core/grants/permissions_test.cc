// SPDX-License-Identifier: Apache-2.0
#include "core/grants/permissions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bulkhead::grants {
namespace {

Permissions Of(const std::vector<std::string>& texts) {
  Permissions permissions;
  for (const std::string& text : texts) {
    const Status added = AddPermission(text, permissions);
    EXPECT_TRUE(added.ok()) << added;
  }
  return permissions;
}

std::vector<std::string> Both(const std::vector<std::string>& asked,
                              const std::vector<std::string>& granted) {
  return ToTexts(Intersect(Of(asked), Of(granted)));
}

using Texts = std::vector<std::string>;

TEST(PermissionsTest, TextsComeBackAsTheyWere) {
  const Texts texts = {"device=/dev/dri/renderD*", "read=/usr/share/acme",
                       "ioctl=drm", "memory=8G", "threads=64"};
  EXPECT_EQ(ToTexts(Of(texts)), texts);
  EXPECT_EQ(ToTexts(Of({"memory=1023"})), Texts{"memory=1023"});
  EXPECT_EQ(Of({"memory=8388608K"}), Of({"memory=8G"}));
}

TEST(PermissionsTest, WritingHasNoWord) {
  for (const char* text :
       {"write=/tmp", "read_write=/tmp", "create=/tmp", "exec=/bin/sh",
        "read,write=/tmp", "=/tmp", "read", ""}) {
    Permissions permissions;
    EXPECT_FALSE(AddPermission(text, permissions).ok()) << text;
    EXPECT_TRUE(permissions.empty());
  }
}

TEST(PermissionsTest, PathsThatMayLeadElsewhereAreRefused) {
  for (const std::string path :
       {"/", "relative", "", "/a/../b", "/..", "/a/./b", "/a//b", "/a/", "//a",
        "/dev", "/dev/shm/x", "/proc", "/proc/self/root", "/a\nb",
        "/a\x1b[2J"}) {
    Permissions permissions;
    EXPECT_FALSE(AddPermission("read", path, permissions).ok()) << path;
  }
  for (const std::string glob :
       {"/dev", "/dev/", "/etc/passwd", "/dev/../etc/passwd", "/dev/dri/..",
        "/*/sda", "/dev*", "/dev/a\\*", "dev/null", "/dev//null"}) {
    Permissions permissions;
    EXPECT_FALSE(AddPermission("device", glob, permissions).ok()) << glob;
  }
  Permissions nul;
  EXPECT_FALSE(AddPermission("read", std::string("/a\0b", 4), nul).ok());
}

TEST(PermissionsTest, AmountsAndFamiliesAreChecked) {
  for (const char* text :
       {"memory=0", "memory=-1", "memory=8X", "memory=8GB",
        "memory=", "memory=129T", "memory=16777217T",
        "memory=18446744073709551616", "threads=0", "threads=8K",
        "threads=4194305", "ioctl=tty", "ioctl=", "ioctl=DRM"}) {
    Permissions permissions;
    EXPECT_FALSE(AddPermission(text, permissions).ok()) << text;
  }
}

TEST(PermissionsTest, HowMuchIsAskedOrGrantedIsBounded) {
  Permissions permissions;
  for (size_t i = 0; i < kMaxPermissions; ++i) {
    const std::string path = "/a" + std::to_string(i);
    ASSERT_TRUE(AddPermission("read", path, permissions).ok());
  }
  EXPECT_FALSE(AddPermission("read", "/b", permissions).ok());
  EXPECT_TRUE(AddPermission("read", "/a0", permissions).ok());
  EXPECT_EQ(permissions.read.size(), kMaxPermissions);

  Permissions one;
  EXPECT_FALSE(AddPermission("read", "/" + std::string(1024, 'a'), one).ok());
  EXPECT_TRUE(AddPermission("read", "/" + std::string(1023, 'a'), one).ok());
}

TEST(PermissionsTest, WhatCountsIsBothAskedAndGranted) {
  EXPECT_EQ(Both({"read=/a/b"}, {"read=/a"}), Texts{"read=/a/b"});
  EXPECT_EQ(Both({"read=/a"}, {"read=/a/b"}), Texts{"read=/a/b"});
  EXPECT_EQ(Both({"read=/a"}, {"read=/ab"}), Texts{});
  EXPECT_EQ(Both({"read=/a", "read=/a/b"}, {"read=/a"}), Texts{"read=/a"});
  EXPECT_EQ(Both({"memory=8G", "threads=9"}, {"memory=4G"}),
            Texts{"memory=4G"});
  EXPECT_EQ(Both({"memory=4G"}, {"memory=8G"}), Texts{"memory=4G"});
  EXPECT_EQ(Both({"ioctl=drm"}, {"ioctl=drm", "ioctl=v4l2"}),
            Texts{"ioctl=drm"});
  EXPECT_EQ(Both({"device=/dev/dri/renderD*"}, {"device=/dev/dri/renderD128"}),
            Texts{"device=/dev/dri/renderD128"});
  EXPECT_EQ(Both({"device=/dev/dri/renderD128"}, {"device=/dev/dri/*"}),
            Texts{"device=/dev/dri/renderD128"});
  EXPECT_EQ(Both({"device=/dev/dri/card0"}, {"device=/dev/dri/render*"}),
            Texts{});
  EXPECT_EQ(Both({}, {"read=/a", "ioctl=drm", "memory=1G"}), Texts{});
  EXPECT_EQ(Both({"read=/a", "ioctl=drm", "memory=1G"}, {}), Texts{});
}

TEST(PermissionsTest, ANodeHasToMatchBothGlobs) {
  const Effective effective =
      Intersect(Of({"device=/dev/dri/renderD12*"}), Of({"device=/dev/dri/*8"}));
  ASSERT_EQ(effective.devices.size(), 1u);
  const DevicePattern& pattern = effective.devices[0];
  EXPECT_TRUE(pattern.Matches("/dev/dri/renderD128"));
  EXPECT_FALSE(pattern.Matches("/dev/dri/renderD129"));
  EXPECT_FALSE(pattern.Matches("/dev/dri/card8"));
  EXPECT_FALSE(pattern.Matches("/dev/dri/renderD12/8"));
}

TEST(PermissionsTest, ANarrowerGrantIsNotMissing) {
  const Permissions asked =
      Of({"device=/dev/dri/*", "read=/a", "ioctl=drm", "memory=8G"});
  const Permissions narrower =
      Of({"device=/dev/dri/renderD128", "read=/a/b", "memory=1G"});
  EXPECT_EQ(ToTexts(Missing(asked, Intersect(asked, narrower))),
            Texts{"ioctl=drm"});
  EXPECT_EQ(Missing(asked, {}), asked);
}

TEST(PermissionsTest, WhatGoesBeyondIsToldApart) {
  const Permissions asked =
      Of({"device=/dev/dri/*", "read=/a", "memory=1G", "ioctl=drm"});
  EXPECT_TRUE(Beyond(asked, asked).empty());
  EXPECT_TRUE(
      Beyond(Of({"device=/dev/dri/render*", "read=/a/b", "memory=1M"}), asked)
          .empty());
  EXPECT_EQ(ToTexts(Beyond(Of({"device=/dev/*", "read=/ab"}), asked)),
            (Texts{"device=/dev/*", "read=/ab"}));
  EXPECT_EQ(ToTexts(Beyond(Of({"memory=2G", "ioctl=v4l2"}), asked)),
            (Texts{"ioctl=v4l2", "memory=2G"}));
}

TEST(PermissionsTest, ArgumentsAreSafeForAShell) {
  EXPECT_EQ(ToArguments(Of({"device=/dev/dri/*", "read=/a b'c", "ioctl=drm"})),
            "'device=/dev/dri/*' 'read=/a b'\\''c' ioctl=drm");
}

}  // namespace
}  // namespace bulkhead::grants
