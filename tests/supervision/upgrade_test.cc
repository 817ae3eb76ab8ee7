// SPDX-License-Identifier: Apache-2.0
//
// An upgrade of the installed programs under a running application.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

class Upgrade : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    std::string path = TemporaryDirectory() + "/libexec-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    libexec_ = path;
    fs::copy(
        LibexecDirectory(), libexec_,
        fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    fs::permissions(libexec_, fs::perms(0755));
    HostOptions options;
    options.libexec_dir = libexec_;
    options.plugin_path.emplace();
    host_ = Host::Create(options).value();
  }
  void TearDown() override {
    if (!libexec_.empty()) fs::remove_all(libexec_);
  }

  // Replaces the programs as a package manager does, by programs of a release
  // with which the application could not speak.
  void ReplacePrograms() const {
    for (const char* program :
         {"bulkheadd", "bulkhead-reaper", "bulkhead-worker"}) {
      const fs::path file = fs::path(libexec_) / program;
      const std::string fresh = file.string() + ".new";
      fs::copy("/bin/false", fresh);
      fs::rename(fresh, file);
    }
  }

  void EndSupervisor() const {
    const ProcessWatch supervisor(host_->supervisor_pid());
    ASSERT_TRUE(supervisor.Signal(SIGKILL));
    ASSERT_TRUE(supervisor.AwaitEnd());
  }

  std::string clip_;
  std::string libexec_;
  std::unique_ptr<Host> host_;
};

TEST_F(Upgrade, AnApplicationKeepsTheProgramsThatItBeganWith) {
  VideoDecoder whole = host_->OpenVideo(clip_).value();
  const std::vector<std::string> expected = HashesOfRest(whole);
  ASSERT_FALSE(expected.empty());
  VideoDecoder video = host_->OpenVideo(clip_).value();
  std::vector<std::string> got;
  for (size_t i = 0; i < expected.size() / 2; ++i) {
    got.push_back(HashOf(**video.Next()));
  }
  ReplacePrograms();
  EndSupervisor();
  for (const std::string& hash : HashesOfRest(video)) got.push_back(hash);
  EXPECT_EQ(got, expected);
  EXPECT_GE(video.recovery().restarts, 1u);
  // A backend that was not started before, and one more bulkheadd.
  EndSupervisor();
  VideoDecoder other = host_->OpenVideo(clip_, {.device = "openreg"}).value();
  EXPECT_EQ(HashesOfRest(other), expected);
}

TEST_F(Upgrade, AnApplicationThatBeginsLaterGetsTheNewPrograms) {
  ReplacePrograms();
  HostOptions options;
  options.libexec_dir = libexec_;
  const auto host = Host::Create(options);
  ASSERT_FALSE(host);
  EXPECT_NE(host.error().message().find("bulkheadd"), std::string::npos)
      << host.error();
}

}  // namespace
}  // namespace bulkhead::tests
