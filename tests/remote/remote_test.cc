// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/autoload/plugin_tree.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/remote/served_directory.h"
#include "tests/support/frame_hash.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

// Backends on a file system that another program serves, and that stops
// answering: nobody who asks for another backend waits for it.
namespace bulkhead::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

bool EnterOwnMounts() {
  return unshare(CLONE_NEWNS) == 0 &&
         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// Installs the backends `far` and `farther` on a served directory and `near`
// beside it. `far` is loaded anew for each session.
class Remote : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    far_.InstallOpenreg("far");
    far_.InstallOpenreg("farther");
    near_.InstallOpenreg("near");
    if (!EnterOwnMounts() ||
        !(served_ = ServedDirectory::Mount(far_.path(), place_.path()))) {
      GTEST_SKIP() << "no program can serve a file system here";
    }
  }

  std::unique_ptr<Host> NewHost(const std::string& place) {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.plugin_path = std::vector{place, near_.path()};
    options.plugin_add_path.emplace();
    options.autoload = true;
    options.backends.emplace();
    options.backends_disable.emplace();
    options.backends_exec = {{"far"}};
    return Host::Create(options).value();
  }
  std::unique_ptr<Host> NewHost() { return NewHost(place_.path()); }

  Result<std::vector<std::string>> Decode(Host& host,
                                          const std::string& device) {
    auto video = host.OpenVideo(clip_, {.device = device});
    if (!video) return video.error();
    std::vector<std::string> hashes;
    for (;;) {
      auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return hashes;
      hashes.push_back(HashOf(**frame));
    }
  }

  // Records that the nearby backend decodes while the served directory is
  // silent.
  void ExpectNearDecodes(Host& host, const std::string& what) {
    const auto hashes = Decode(host, "near/openreg");
    ExpectOutcome(Escape(78), what, "decodes",
                  hashes ? "decodes" : hashes.error().message());
  }

  void ExpectDecodes(Host& host, const std::string& device) {
    const auto hashes = Decode(host, device);
    ASSERT_TRUE(hashes) << device << ": " << hashes.error();
    EXPECT_EQ(*hashes, Decode(host, "cpu").value()) << device;
  }

  // Waits until the device decodes. A silent place is asked again after some
  // seconds.
  void AwaitDecodes(Host& host, const std::string& device) {
    const auto limit =
        std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!Decode(host, device)) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit);
    }
    ExpectDecodes(host, device);
  }

  testing::Matcher<std::string> NamesThePlace() const {
    return AllOf(HasSubstr(place_.path()), HasSubstr("does not answer"));
  }

  PluginTree far_;
  PluginTree near_;
  PluginTree place_;
  std::unique_ptr<ServedDirectory> served_;

 private:
  std::string clip_;
};

TEST_F(Remote, BackendsOfAServedDirectoryDecode) {
  const auto host = NewHost();
  ExpectDecodes(*host, "farther/openreg");
  for (int i = 0; i < 2; ++i) ExpectDecodes(*host, "far/openreg");
}

TEST_F(Remote, ADirectoryThatNeverAnsweredIsNamed) {
  served_->Stop();
  // Neither does a link to it.
  const std::string link = place_.path() + "-link";
  std::filesystem::create_symlink(
      std::filesystem::path(place_.path()).filename(), link);
  for (const std::string& path : {place_.path(), link}) {
    const auto host = NewHost(path);
    for (int i = 0; i < 2; ++i) {
      ExpectNearDecodes(*host,
                        "a backend beside a directory that does not answer");
      EXPECT_THAT(host->Prewarm("nobody/has").message(),
                  AllOf(HasSubstr(path), HasSubstr("does not answer")));
    }
  }
  std::filesystem::remove(link);
}

TEST_F(Remote, AStartThatGetsNoFilesDelaysNobody) {
  for (const char* device : {"farther/openreg", "far/openreg"}) {
    const auto host = NewHost();
    ASSERT_TRUE(host->Backends());
    served_->Stop();
    auto start =
        std::async(std::launch::async, [&] { return host->Prewarm(device); });
    ExpectNearDecodes(*host, "a backend beside a start that gets no files");
    const Status failed = start.get();
    EXPECT_EQ(failed.code(), Code::kBackendUnavailable) << failed;
    EXPECT_THAT(failed.message(), NamesThePlace());
    served_->GoOn();
    AwaitDecodes(*host, device);
  }
}

TEST_F(Remote, ASessionThatLoadsNoFilesDelaysNobody) {
  const auto host = NewHost();
  ExpectDecodes(*host, "far/openreg");
  served_->Stop();
  auto session = std::async(std::launch::async,
                            [&] { return Decode(*host, "far/openreg"); });
  ExpectNearDecodes(*host, "a backend beside a session that gets no files");
  const auto decoded = session.get();
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), Code::kBackendUnavailable)
      << decoded.error();
  EXPECT_THAT(decoded.error().message(), HasSubstr("does not answer"));
  served_->GoOn();
  AwaitDecodes(*host, "far/openreg");
}

TEST_F(Remote, WhatRunsGoesOnWhileItsDirectoryIsSilent) {
  const auto host = NewHost();
  ExpectDecodes(*host, "farther/openreg");
  served_->Stop();
  // A new backend, a list and a load look at the directory.
  near_.InstallOpenreg("new");
  EXPECT_TRUE(Decode(*host, "new/openreg"));
  const BackendReport report = host->Backends().value();
  bool told = false;
  for (const SearchedPlace& place : report.places) {
    told |= place.path == place_.path() &&
            place.outcome.find("does not answer") != std::string::npos;
  }
  EXPECT_TRUE(told);
  const auto loaded = host->LoadBackend(place_.path());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), Code::kBackendUnavailable);
  EXPECT_THAT(loaded.error().message(), NamesThePlace());
  ExpectNearDecodes(*host, "a backend beside looks that get no files");
  ExpectDecodes(*host, "farther/openreg");
}

}  // namespace
}  // namespace bulkhead::tests
