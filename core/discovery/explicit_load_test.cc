// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/explicit_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

using ::testing::HasSubstr;

class ExplicitLoadTest : public testing::Test {
 protected:
  ExplicitLoadTest() {
    tree_.WriteDistribution("acme-1.0.dist-info", "acme", "1.0",
                            "[bulkhead.backends]\nacme = a.b.npu:entry\n");
    tree_.Write("a/b/libnpu.so", "ELF");
    tree_.Write("a/b/libother.so", "ELF");
  }

  Result<ExplicitLoad> Resolve(const std::string& below) {
    return ResolveExplicitLoad(tree_ / below, "");
  }

  TemporaryTree tree_;
};

TEST_F(ExplicitLoadTest, ADistInfoMeansItsEntryPoints) {
  const auto load = Resolve("acme-1.0.dist-info");
  ASSERT_TRUE(load);
  EXPECT_EQ(load->directory, tree_.path());
  EXPECT_EQ(load->dist_info, "acme-1.0.dist-info");
  EXPECT_EQ(load->object, "");
}

TEST_F(ExplicitLoadTest, ADirectoryMeansAllThatItHolds) {
  std::filesystem::create_directory_symlink(tree_.path(), tree_ / "link");
  const auto load = Resolve("link");
  ASSERT_TRUE(load);
  EXPECT_EQ(load->directory, tree_.path());
  EXPECT_EQ(load->dist_info, "");
}

TEST_F(ExplicitLoadTest, AnObjectMeansTheEntryPointsThatNameIt) {
  const auto load = Resolve("a/b/libnpu.so");
  ASSERT_TRUE(load) << load.error();
  EXPECT_EQ(load->directory, tree_.path());
  EXPECT_EQ(load->dist_info, "acme-1.0.dist-info");
  EXPECT_EQ(load->object, "a/b/libnpu.so");
}

TEST_F(ExplicitLoadTest, WhatNoEntryPointNamesIsRefusedWithWhatWouldDo) {
  const auto load = Resolve("a/b/libother.so");
  ASSERT_FALSE(load);
  EXPECT_EQ(load.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(load.error().message(), HasSubstr("libother.so"));
  EXPECT_THAT(load.error().message(), HasSubstr(".dist-info"));
}

TEST_F(ExplicitLoadTest, WhatDoesNotExistIsNotFound) {
  EXPECT_EQ(Resolve("nowhere").error().code(), Code::kNotFound);
}

}  // namespace
}  // namespace bulkhead::discovery
