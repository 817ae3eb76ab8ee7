// SPDX-License-Identifier: Apache-2.0
//
// Tests what an operator's commands do to a backend, and what they do not
// affect.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "core/base/testing/temporary_tree.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kMadeUpFrames = 24;

class Commands : public testing::Test {
 protected:
  Commands() { NewHost(); }

  // A bulkheadd of its own, which knows what is in the state directory.
  void NewHost() {
    HostOptions options = installation_.options();
    options.state_directory = state_.path();
    host_ = Host::Create(options).value();
  }

  BackendInfo Info(const std::string& name) const {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == name) return backend;
    }
    ADD_FAILURE() << "there is no backend " << name;
    return {};
  }

  Result<VideoDecoder> Open(const std::string& device) const {
    return host_->OpenVideo(installation_.media(), {.device = device});
  }

  static Result<int> CountRest(VideoDecoder& video) {
    for (int frames = 0;; ++frames) {
      auto frame = video.Next();
      if (!frame) return frame.error();
      if (!*frame) return frames;
    }
  }
  Result<int> CountFrames(const std::string& device) const {
    auto video = Open(device);
    if (!video) return video.error();
    return CountRest(*video);
  }

  const LyingInstallation installation_{{"honest", "ready_death"}};
  const TemporaryTree state_;
  std::unique_ptr<Host> host_;
};

TEST_F(Commands, ANameThatNoBackendHasIsToldWhichThereAre) {
  for (const auto command :
       {&Host::Restart, &Host::Reload, &Host::Disable, &Host::Enable}) {
    const Status status = (host_.get()->*command)("honset", std::nullopt);
    EXPECT_EQ(status.code(), Code::kNotFound);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("honset"), HasSubstr("honest")));
  }
}

TEST_F(Commands, ARestartLeavesSessionsAloneAndGivesTheNextAFreshZygote) {
  auto video = Open("honest").value();
  ASSERT_TRUE(video.Next().value());
  const int zygote = Info("honest").zygote_pid;
  ASSERT_TRUE(host_->Restart("honest").ok());
  EXPECT_EQ(Info("honest").state, "discovered");
  EXPECT_EQ(CountFrames("honest").value(), kMadeUpFrames);
  EXPECT_NE(Info("honest").zygote_pid, zygote);
  EXPECT_EQ(Info("honest").incarnation, 2u);
  EXPECT_EQ(CountRest(video).value(), kMadeUpFrames - 1);
  EXPECT_EQ(video.recovery().restarts, 0u);
}

TEST_F(Commands, ARestartForgetsTheBackoffAndLiftsTheQuarantine) {
  const auto limit = std::chrono::steady_clock::now() + milliseconds(30'000);
  while (Info("ready_death").state != "quarantined") {
    ASSERT_FALSE(host_->Prewarm("ready_death").ok());
    ASSERT_LT(std::chrono::steady_clock::now(), limit);
  }
  ASSERT_TRUE(host_->Restart("ready_death").ok());
  EXPECT_EQ(Info("ready_death").state, "discovered");
  EXPECT_EQ(Info("ready_death").reason, "");
  const uint32_t lives = Info("ready_death").incarnation;
  EXPECT_FALSE(host_->Prewarm("ready_death").ok());
  EXPECT_EQ(Info("ready_death").state, "backing-off");
  EXPECT_EQ(Info("ready_death").incarnation, lives + 1);
}

TEST_F(Commands, ADisabledBackendIsRefusedUntilItIsEnabled) {
  auto video = Open("honest").value();
  ASSERT_TRUE(host_->Disable("honest").ok());
  EXPECT_EQ(Info("honest").state, "disabled");
  const Status refused = host_->Prewarm("honest");
  EXPECT_EQ(refused.code(), Code::kBackendUnavailable);
  EXPECT_THAT(refused.message(), HasSubstr("bulkhead enable honest"));
  EXPECT_EQ(host_->Restart("honest").code(), Code::kBackendUnavailable);
  EXPECT_EQ(host_->Reload("honest").code(), Code::kBackendUnavailable);
  EXPECT_EQ(CountRest(video).value(), kMadeUpFrames);
  ASSERT_TRUE(host_->Enable("honest").ok());
  EXPECT_EQ(Info("honest").state, "discovered");
  EXPECT_EQ(CountFrames("honest").value(), kMadeUpFrames);
}

TEST_F(Commands, ADisabledBackendStaysSoForLaterApplicationsUntilItIsEnabled) {
  ASSERT_TRUE(host_->Disable("honest").ok());
  NewHost();
  EXPECT_EQ(Info("honest").state, "disabled");
  EXPECT_THAT(Info("honest").reason, HasSubstr("bulkhead enable honest"));
  EXPECT_EQ(CountFrames("honest").error().code(), Code::kBackendUnavailable);
  ASSERT_TRUE(host_->Enable("honest").ok());
  NewHost();
  EXPECT_EQ(Info("honest").state, "discovered");
  EXPECT_EQ(CountFrames("honest").value(), kMadeUpFrames);
}

TEST_F(Commands, ADisableThatCannotBeKeptSaysSo) {
  HostOptions options = installation_.options();
  // No directory can be made below a file.
  options.state_directory = installation_.media() + "/state";
  host_ = Host::Create(options).value();
  const Status status = host_->Disable("honest");
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status;
  EXPECT_THAT(status.message(), AllOf(HasSubstr("in this application only"),
                                      HasSubstr(*options.state_directory)));
  EXPECT_EQ(Info("honest").state, "disabled");
}

TEST_F(Commands, ASessionWhoseBackendWasKilledSaysBySignal) {
  VideoOptions options{.device = "honest"};
  std::vector<ExitReport> causes;
  options.recovery_observer = [&](const Recovery& recovery) {
    causes.push_back(recovery.cause);
  };
  auto video = host_->OpenVideo(installation_.media(), options).value();
  ASSERT_TRUE(video.Next().value());
  const ProcessWatch worker(video.worker_pid());
  ASSERT_EQ(::kill(Info("honest").reaper_pid, SIGKILL), 0);
  ASSERT_TRUE(worker.AwaitEnd());
  // The frames of the first pass may all be here already.
  video.Rewind();
  EXPECT_EQ(CountRest(video).value(), kMadeUpFrames);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].kind, ExitReport::Kind::kSignaled);
  EXPECT_EQ(causes[0].value, SIGKILL);
}

TEST_F(Commands, AReloadGivesNewSessionsASuccessor) {
  // The pictures that it makes up of the built-in clip would not pass.
  installation_.BringClip("honest");
  NewHost();
  auto video = Open("honest").value();
  ASSERT_TRUE(video.Next().value());
  const int zygote = Info("honest").zygote_pid;
  const Status reloaded = host_->Reload("honest");
  ASSERT_TRUE(reloaded.ok()) << reloaded;
  EXPECT_EQ(Info("honest").state, "ready");
  EXPECT_NE(Info("honest").zygote_pid, zygote);
  EXPECT_EQ(CountFrames("honest").value(), kMadeUpFrames);
  EXPECT_EQ(CountRest(video).value(), kMadeUpFrames - 1);
}

// A caller that waits for a start gets the result of the next start.
TEST_F(Commands, AStartThatARestartEndsIsBegunAgainForThoseWhoWait) {
  auto prewarmed =
      std::async(std::launch::async, [&] { return host_->Prewarm("honest"); });
  while (prewarmed.wait_for(milliseconds(0)) != std::future_status::ready) {
    ASSERT_TRUE(host_->Restart("honest").ok());
    if (Info("honest").incarnation > 0) break;
    // bound: the pause between two restarts.
    prewarmed.wait_for(milliseconds(100));
  }
  const Status status = prewarmed.get();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(CountFrames("honest").value(), kMadeUpFrames);
}

}  // namespace
}  // namespace bulkhead::tests
