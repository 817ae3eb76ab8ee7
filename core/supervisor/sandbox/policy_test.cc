// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/policy.h"

#include <gtest/gtest.h>
#include <linux/landlock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/supervisor/sandbox/granted_paths.h"
#include "core/supervisor/sandbox/landlock.h"

namespace bulkhead::sandbox {
namespace {

namespace fs = std::filesystem;
using Kind = VisiblePath::Kind;

class PolicyTest : public testing::Test {
 protected:
  PolicyTest() {
    root_ =
        fs::path(testing::TempDir()) / ("policy" + std::to_string(getpid()));
    fs::create_directories(root_ / "tree/below");
    std::ofstream(root_ / "libplugin.so") << "x";
    std::ofstream(root_ / "tree/below/model") << "x";
    fs::create_symlink("/etc/passwd", root_ / "link");
  }
  ~PolicyTest() override { fs::remove_all(root_); }

  std::string Path(const std::string& name) const { return root_ / name; }
  Plugin::File File(const std::string& name) const {
    return {Path(name), ResolveReadable(Path("libplugin.so")).value().identity};
  }

  static const VisiblePath* Find(const Policy& policy,
                                 const std::string& path) {
    for (const VisiblePath& visible : policy.visible) {
      if (visible.path == path) return &visible;
    }
    return nullptr;
  }

  fs::path root_;
};

TEST_F(PolicyTest, ShowsThePluginsFilesAndNothingBesideThem) {
  const auto policy = MakePolicy({.files = {File("libplugin.so")}}, {});
  ASSERT_TRUE(policy) << policy.error();
  ASSERT_NE(Find(*policy, Path("libplugin.so")), nullptr);
  EXPECT_EQ(Find(*policy, Path("libplugin.so"))->kind, Kind::kFile);
  for (const VisiblePath& visible : policy->visible) {
    if (visible.path == Path("libplugin.so")) continue;
    EXPECT_TRUE(visible.path.starts_with("/lib") ||
                visible.path.starts_with("/usr/lib") ||
                visible.path.starts_with("/usr/local/") ||
                visible.path == "/etc/ld.so.cache" ||
                visible.path == "/etc/alternatives")
        << visible.path;
    EXPECT_NE(visible.path, "/usr");
    EXPECT_NE(visible.path, "/usr/lib");
    EXPECT_NE(visible.path, "/usr/local/lib");
  }
}

TEST_F(PolicyTest, NoPathLiesBelowAVisibleTree) {
  const auto tree = ResolveReadable(Path("tree"));
  ASSERT_TRUE(tree) << tree.error();
  const auto policy = MakePolicy(
      {.files = {File("tree/below/model"), File("tree/./below/../below/model"),
                 File("libplugin.so"), File("libplugin.so")}},
      {.paths = {*tree}});
  ASSERT_TRUE(policy) << policy.error();
  bool files_began = false;
  for (const VisiblePath& outer : policy->visible) {
    if (outer.kind != Kind::kTree) {
      files_began = true;
      continue;
    }
    EXPECT_FALSE(files_began) << outer.path;
    for (const VisiblePath& inner : policy->visible) {
      EXPECT_FALSE(inner.path.starts_with(outer.path + "/")) << inner.path;
    }
  }
  EXPECT_EQ(std::count_if(policy->visible.begin(), policy->visible.end(),
                          [&](const VisiblePath& visible) {
                            return visible.path == Path("libplugin.so");
                          }),
            1);
}

TEST_F(PolicyTest, AFileOfThePluginIsShownAsTheObjectThatItWas) {
  const Plugin::File file = File("libplugin.so");
  const auto policy = MakePolicy({.files = {file}}, {});
  ASSERT_TRUE(policy) << policy.error();
  ASSERT_NE(Find(*policy, file.path), nullptr);
  EXPECT_EQ(Find(*policy, file.path)->identity, file.identity);
}

TEST_F(PolicyTest, NamesWhatCannotBeShown) {
  for (const std::string path : {"/", "/usr/..", "relative", ""}) {
    const auto refused = MakePolicy({.files = {{path, {}}}}, {});
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code(), Code::kBackendUnavailable);
  }
}

TEST_F(PolicyTest, WhatIsGrantedIsShownAsTheObjectThatItWas) {
  const auto file = ResolveReadable(Path("tree/below/model"));
  ASSERT_TRUE(file) << file.error();
  std::vector<std::string> problems;
  const auto devices = ResolveDevices(
      "/dev/zero", [](const auto&) { return true; }, problems);
  ASSERT_EQ(devices.size(), 1u);
  const auto policy =
      MakePolicy({}, {.paths = {*file, devices[0]}, .ioctl_types = {'d'}});
  ASSERT_TRUE(policy) << policy.error();
  const VisiblePath* shown = Find(*policy, Path("tree/below/model"));
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->kind, Kind::kFile);
  EXPECT_EQ(shown->identity, file->identity);
  const VisiblePath* device = Find(*policy, "/dev/zero");
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->kind, Kind::kDevice);
  for (const LandlockRule& rule : PlanLandlock(6, *policy).rules) {
    const bool writes = (rule.access & LANDLOCK_ACCESS_FS_WRITE_FILE) != 0;
    EXPECT_EQ(writes, rule.path == "/dev/zero") << rule.path;
  }
}

TEST(LimitsTest, GrantsRaiseAndNeverLower) {
  Limits limits;
  const Limits before;
  RaiseLimits({.address_space_bytes = 1, .tasks = 1}, limits);
  EXPECT_EQ(limits.address_space_bytes, before.address_space_bytes);
  EXPECT_EQ(limits.memory_bytes, before.memory_bytes);
  EXPECT_EQ(limits.tasks, before.tasks);
  RaiseLimits({.address_space_bytes = uint64_t{1} << 40, .tasks = 100'000},
              limits);
  EXPECT_EQ(limits.address_space_bytes, uint64_t{1} << 40);
  EXPECT_EQ(limits.memory_bytes, uint64_t{1} << 40);
  EXPECT_EQ(limits.tasks, 100'000u);
}

TEST(LandlockPlanTest, HandlesAllThatTheAbiOffers) {
  const Policy policy;
  EXPECT_EQ(PlanLandlock(0, policy).handled_fs, 0u);
  EXPECT_EQ(PlanLandlock(1, policy).handled_fs, 0x1fffu);
  EXPECT_EQ(PlanLandlock(3, policy).handled_fs, 0x7fffu);
  EXPECT_EQ(PlanLandlock(3, policy).handled_net, 0u);
  EXPECT_EQ(PlanLandlock(4, policy).handled_net, 3u);
  EXPECT_EQ(PlanLandlock(5, policy).handled_fs, 0xffffu);
  EXPECT_EQ(PlanLandlock(5, policy).scoped, 0u);
  EXPECT_EQ(PlanLandlock(6, policy).scoped, 3u);
  EXPECT_EQ(PlanLandlock(99, policy).handled_fs,
            PlanLandlock(9, policy).handled_fs);
  EXPECT_FALSE(MissingFrom(0).empty());
  EXPECT_TRUE(MissingFrom(6).empty());
}

}  // namespace
}  // namespace bulkhead::sandbox
