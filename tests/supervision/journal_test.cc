// SPDX-License-Identifier: Apache-2.0
//
// Tests that a real systemd-journald has what befell a backend. It runs in a
// mount namespace with a /run of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "bulkhead/host.h"
#include "ipc/testing/forked_child.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/await.h"
#include "tests/support/covered_directory.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr milliseconds kSoon{30'000};
constexpr char kJournald[] = "/lib/systemd/systemd-journald";
constexpr char kLogs[] = "/run/log/journal";

std::string Journal(const std::string& match) {
  return RunProgram({"journalctl", "--directory", kLogs, "--quiet",
                     "--no-pager", "--output", "json", match})
      .output;
}

void Decode(Host& host, const ChaosInstallation& installation,
            const std::string& clip, const std::string& faults) {
  auto video = host.OpenVideo(clip, installation.Stream(faults)).value();
  int frames = 0;
  while (video.Next().value()) ++frames;
  EXPECT_EQ(frames, 120);
}

class Journals : public testing::Test {
 protected:
  // Runs `test` in a process with an empty /run.
  void InOwnRun(const std::function<void(const std::string& clip)>& test) {
    const std::string clip = ClipOrSkip(Clip::kH264);
    if (clip.empty()) return;
    if (::geteuid() != 0) GTEST_SKIP() << "only root may mount a /run";
    ipc::ForkedChild child([&] {
      EXPECT_EQ(CoverDirectory("/run"), "");
      if (!HasFailure()) test(clip);
      return HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(child.Wait(), 0);
  }

  const ChaosInstallation installation_;
};

TEST_F(Journals, HaveWhatBefellABackend) {
  if (!fs::exists(kJournald)) {
    GTEST_SKIP() << "systemd is not there; tools/setup --fleet installs it";
  }
  InOwnRun([this](const std::string& clip) {
    fs::create_directories("/run/systemd/journal");
    fs::create_directories(kLogs);
    const auto journald = RunningProgram::Start({kJournald});
    ASSERT_TRUE(journald);
    ASSERT_TRUE(
        Await([] { return fs::exists("/run/systemd/journal/socket"); }, kSoon));
    const auto host = Host::Create(installation_.options()).value();
    Decode(*host, installation_, clip, "at=packet:9 do=segfault lives=1");
    ASSERT_TRUE(host->Restart("chaos").ok());
    std::string entries;
    EXPECT_TRUE(Await(
        [&] {
          entries = Journal("BULKHEAD_BACKEND=chaos");
          return entries.find("restart: done") != std::string::npos;
        },
        kSoon));
    EXPECT_THAT(entries,
                AllOf(HasSubstr("\"BULKHEAD_EVENT\":\"worker-ended\""),
                      HasSubstr("signal 11"),
                      HasSubstr("\"BULKHEAD_HOST_PID\":\"" +
                                std::to_string(::getpid()) + "\""),
                      HasSubstr("\"_PID\":\"" +
                                std::to_string(host->supervisor_pid()) + "\""),
                      Not(HasSubstr("session-opened"))));
    EXPECT_EQ(Journal("BULKHEAD_BACKEND=other"), "");
  });
}

TEST_F(Journals, ThatAreNotThereAreNotMissed) {
  InOwnRun([this](const std::string& clip) {
    const auto host = Host::Create(installation_.options()).value();
    Decode(*host, installation_, clip, "at=packet:9 do=segfault lives=1");
  });
}

}  // namespace
}  // namespace bulkhead::tests
