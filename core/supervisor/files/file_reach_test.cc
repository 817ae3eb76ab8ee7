// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/file_reach.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::files {
namespace {

constexpr sandbox::Reach kByPath = {.own_uid = true};

discovery::BackendCandidate AcmeIn(const std::string& directory) {
  discovery::BackendCandidate acme;
  acme.entry_point.name = "acme";
  acme.directory = directory;
  acme.dist_info = directory + "/acme-1.0.dist-info";
  acme.plugin_path = "acme/libacme.so";
  acme.files_beside = 1;
  return acme;
}

TEST(FileReachTest, AClosedDirectoryIsNamedWhereFilesLieBeside) {
  // The directories of Bazel may be closed themselves.
  const TemporaryTree tree("/tmp");
  ASSERT_EQ(chmod(tree.path().c_str(), 0755), 0);
  tree.Write("closed/acme/libacme.so", "");
  ASSERT_EQ(chmod((tree / "closed/acme").c_str(), 0755), 0);
  const auto acme = AcmeIn(tree / "closed");
  ASSERT_EQ(chmod((tree / "closed").c_str(), 0755), 0);
  EXPECT_EQ(ObstacleToFiles(acme, kByPath), "");
  ASSERT_EQ(chmod((tree / "closed").c_str(), 0700), 0);
  const std::string obstacle = ObstacleToFiles(acme, kByPath);
  EXPECT_NE(obstacle.find("the 1 file beside"), std::string::npos) << obstacle;
  EXPECT_NE(obstacle.find("chmod o+x " + tree / "closed"), std::string::npos)
      << obstacle;

  auto alone = acme;
  alone.files_beside = 0;
  EXPECT_EQ(ObstacleToFiles(alone, kByPath), "");
  EXPECT_EQ(ObstacleToFiles(acme, {.own_uid = true, .own_root = true}), "");
  EXPECT_EQ(ObstacleToFiles(acme, {}), "");
}

}  // namespace
}  // namespace bulkhead::files
