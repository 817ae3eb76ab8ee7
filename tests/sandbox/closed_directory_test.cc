// SPDX-License-Identifier: Apache-2.0
//
// Tier reduced where everything lies below a directory that the uid of a
// backend may not enter, as a checkout below /root does.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/refusals.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

class ClosedDirectory : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(RefuseNamespaces()); }

  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root gives backends a uid";
    // Neither below the directories of Bazel, which may be closed themselves.
    std::string name = "/tmp/bulkhead-closed-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
    CopyForAll(LibexecDirectory(), directory_ / "libexec");
    CopyForAll(DistributionDirectory(), directory_ / "plugins");
  }
  void TearDown() override {
    std::error_code ignored;
    if (!directory_.empty()) fs::remove_all(directory_, ignored);
  }

  void AddAFileBesideTheObject() {
    std::ofstream(directory_ / "plugins/cvendor/model") << "x";
    fs::permissions(directory_ / "plugins/cvendor/model", fs::perms(0644));
    std::ofstream(directory_ / "plugins/cvendor-2.1.dist-info/RECORD",
                  std::ios::app)
        << "cvendor/model,,\n";
  }

  std::unique_ptr<Host> Start() {
    HostOptions options;
    options.libexec_dir = directory_ / "libexec";
    options.plugin_path = {directory_ / "plugins"};
    options.autoload = true;
    options.sandbox_floor = SandboxTier::kReduced;
    auto host = Host::Create(options);
    EXPECT_TRUE(host) << host.error();
    return host ? *std::move(host) : nullptr;
  }

  static void ExpectReducedWithOwnUid(Host& host) {
    const auto sandbox = host.Sandbox();
    ASSERT_TRUE(sandbox) << sandbox.error();
    EXPECT_EQ(sandbox->tier, SandboxTier::kReduced);
    EXPECT_TRUE(sandbox->own_uid);
  }

  fs::path directory_;
};

TEST_F(ClosedDirectory, IsNoObstacleToABackend) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  const auto expected = HashesByFfmpeg(clip);
  ASSERT_TRUE(expected) << expected.error();
  const auto host = Start();
  ASSERT_TRUE(host);
  ExpectReducedWithOwnUid(*host);
  for (const char* device : {"cpu", "openreg", "cvendor"}) {
    SCOPED_TRACE(device);
    auto video = host->OpenVideo(clip, {.device = device});
    ASSERT_TRUE(video) << video.error();
    for (const std::string& hash : *expected) {
      const auto frame = video->Next();
      ASSERT_TRUE(frame) << frame.error();
      ASSERT_TRUE(*frame);
      ASSERT_EQ(HashOf(**frame), hash);
    }
  }
}

TEST_F(ClosedDirectory, FilesBesideTheObjectAreToldBeforeAStart) {
  AddAFileBesideTheObject();
  const auto host = Start();
  ASSERT_TRUE(host);
  ExpectReducedWithOwnUid(*host);
  const auto backends = host->Backends();
  ASSERT_TRUE(backends) << backends.error();
  std::string all;
  for (const Diagnostic& diagnostic : backends->diagnostics) {
    all += diagnostic.message + "\n";
  }
  EXPECT_NE(all.find("the backend cvendor cannot open the 1 file beside its "
                     "shared object"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find("chmod o+x " + directory_.string()), std::string::npos)
      << all;
  EXPECT_EQ(all.find("the backend cpu"), std::string::npos) << all;
}

TEST_F(ClosedDirectory, AFailedLoadRepeatsThatFilesCannotBeOpened) {
  AddAFileBesideTheObject();
  std::ofstream(directory_ / "plugins/cvendor-2.1.dist-info/entry_points.txt")
      << "[bulkhead.backends]\ncvendor = cvendor.libcvendor:no_such_entry\n";
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  const auto host = Start();
  ASSERT_TRUE(host);
  const auto video = host->OpenVideo(clip, {.device = "cvendor"});
  ASSERT_FALSE(video);
  for (const char* part : {"no_such_entry", "cannot open the 1 file beside",
                           "chmod o+x /tmp/bulkhead-closed-"}) {
    EXPECT_NE(video.error().message().find(part), std::string::npos)
        << video.error();
  }
}

}  // namespace
}  // namespace bulkhead::tests
