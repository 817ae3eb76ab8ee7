// SPDX-License-Identifier: Apache-2.0
//
// Tests a backend that fails repeatedly, and one that others kill repeatedly.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "core/base/testing/temporary_tree.h"
#include "ipc/testing/forked_child.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kMadeUpFrames = 24;
// The number of failures that leads to quarantine: see restart_policy.h.
constexpr int kTooMany = 5;

class Quarantine : public testing::Test {
 protected:
  std::unique_ptr<Host> NewHost() const {
    HostOptions options = installation_.options();
    options.state_directory = state_.path();
    return Host::Create(options).value();
  }

  static BackendInfo Info(Host& host, const std::string& name) {
    const BackendReport report = host.Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == name) return backend;
    }
    ADD_FAILURE() << "there is no backend " << name;
    return {};
  }

  // Returns the records, without files that are still being written.
  std::vector<fs::path> Records() const {
    std::vector<fs::path> records;
    for (const auto& entry : fs::directory_iterator(state_.path())) {
      if (entry.path().filename().string().starts_with("quarantine-")) {
        records.push_back(entry.path());
      }
    }
    return records;
  }

  // Waits for a condition. Each one asks bulkheadd and waits for the answer, so
  // this is no busy loop.
  template <typename Condition>
  static void Await(const Condition& condition) {
    const auto limit = std::chrono::steady_clock::now() + milliseconds(30'000);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit);
    }
  }
  void AwaitQuarantine(Host& host, const std::string& device) const {
    Await([&] {
      EXPECT_FALSE(host.Prewarm(device).ok());
      return Info(host, device).state == "quarantined";
    });
    Await([&] { return host.Backends() && Records().size() == 1; });
  }

  using Variables =
      std::vector<std::pair<std::string, std::optional<std::string>>>;

  // Runs the command in a network of its own, where no bulkheadd of another
  // test is found.
  ProgramResult RunAlone(std::vector<std::string> arguments,
                         Variables variables) const {
    arguments.insert(arguments.begin(),
                     {"unshare", ::geteuid() == 0 ? "-n" : "-rn",
                      PathFromEnvironment("BULKHEAD_TEST_CLI")});
    variables.emplace_back("BULKHEAD_LIBEXEC_DIR",
                           installation_.options().libexec_dir);
    variables.emplace_back("BULKHEAD_STATE_DIR", state_.path());
    return RunProgram(arguments, {.environment = std::move(variables)});
  }

  Result<int> CountFrames(Host& host, const std::string& device) const {
    auto video = host.OpenVideo(installation_.media(), {.device = device});
    if (!video) return video.error();
    for (int frames = 0;; ++frames) {
      auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return frames;
    }
  }

  const LyingInstallation installation_{
      {"honest", "ready_death", "ready_failed", "frame_other_width"}};
  const TemporaryTree state_;
};

TEST_F(Quarantine, ACrashLoopIsOverForEveryHostUntilTheFileChanges) {
  const auto host = NewHost();
  AwaitQuarantine(*host, "ready_death");
  const Status refused = host->Prewarm("ready_death");
  ExpectOutcome(Fault(41), "asked for again", Code::kBackendUnavailable,
                refused);
  ExpectOutcome(Fault(41), "state", "quarantined",
                Info(*host, "ready_death").state);
  EXPECT_THAT(refused.message(),
              AllOf(HasSubstr("quarantined"), HasSubstr("signal 11"),
                    HasSubstr("bulkhead restart ready_death")));
  EXPECT_EQ(Info(*host, "ready_death").incarnation, uint32_t{kTooMany});
  EXPECT_THAT(Info(*host, "ready_death").reason, HasSubstr("signal 11"));
  EXPECT_EQ(CountFrames(*host, "honest").value(), kMadeUpFrames);

  const auto another = NewHost();
  EXPECT_THAT(another->Prewarm("ready_death").message(),
              AllOf(HasSubstr("quarantined"), HasSubstr("signal 11")));
  EXPECT_EQ(Info(*another, "ready_death").state, "quarantined");
  EXPECT_EQ(Info(*another, "ready_death").incarnation, 0u);

  std::ofstream(installation_.Object("ready_death")) << "another object";
  for (Host* each : {host.get(), another.get()}) {
    EXPECT_THAT(each->Prewarm("ready_death").message(),
                AllOf(Not(HasSubstr("quarantined")), HasSubstr("signal 11")));
    EXPECT_EQ(Info(*each, "ready_death").incarnation, 1u);
  }
  EXPECT_TRUE(Records().empty());
}

TEST_F(Quarantine, AFileOfTheSameSizeAndTimeWithOtherContentsIsAnother) {
  const auto host = NewHost();
  AwaitQuarantine(*host, "ready_death");
  const fs::path object = installation_.Object("ready_death");
  const auto modified = fs::last_write_time(object);
  std::ofstream(object, std::ios::in | std::ios::out) << "N";
  fs::last_write_time(object, modified);
  EXPECT_THAT(NewHost()->Prewarm("ready_death").message(),
              Not(HasSubstr("quarantined")));
}

TEST_F(Quarantine, EndsWhereTheRecordIsTakenAway) {
  const auto host = NewHost();
  AwaitQuarantine(*host, "ready_death");
  fs::remove(Records().front());
  EXPECT_THAT(host->Prewarm("ready_death").message(),
              AllOf(Not(HasSubstr("quarantined")), HasSubstr("signal 11")));
  EXPECT_EQ(Info(*host, "ready_death").state, "backing-off");
  EXPECT_EQ(Info(*host, "ready_death").incarnation, uint32_t{kTooMany + 1});
}

TEST_F(Quarantine, EndsWhereLibrariesWereInstalledSince) {
  AwaitQuarantine(*NewHost(), "ready_death");
  const fs::path record = Records().front();
  std::ifstream in(record);
  std::string text(std::istreambuf_iterator<char>(in), {});
  const std::string key = "libraries_ns = ";
  ASSERT_NE(text.find(key), std::string::npos) << text;
  // As if the linker's cache had been another one.
  text.erase(text.find(key) + key.size(), 1);
  std::ofstream(record) << text;
  EXPECT_THAT(NewHost()->Prewarm("ready_death").message(),
              AllOf(Not(HasSubstr("quarantined")), HasSubstr("signal 11")));
  EXPECT_TRUE(Records().empty());
}

// The cure that the message names works without any application.
TEST_F(Quarantine, IsListedAndLiftedWithoutAnApplication) {
  AwaitQuarantine(*NewHost(), "ready_death");
  EXPECT_EQ(Info(*NewHost(), "ready_death").state, "quarantined");

  const auto run = [&](std::vector<std::string> arguments) {
    return RunAlone(std::move(arguments), {});
  };
  const ProgramResult listed = run({"backends"});
  if (!listed.started) GTEST_SKIP() << "there is no unshare";
  EXPECT_THAT(
      listed.output + listed.errors,
      AllOf(HasSubstr(installation_.Object("ready_death")),
            HasSubstr("signal 11"), HasSubstr("bulkhead restart ready_death")));
  const ProgramResult lifted = run({"restart", "ready_death"});
  EXPECT_EQ(lifted.exit_code, 0) << lifted.Describe();
  EXPECT_TRUE(Records().empty());
  EXPECT_EQ(Info(*NewHost(), "ready_death").state, "discovered");
  // It is not found without its directory, and nothing is left to lift.
  for (const char* command : {"restart", "disable"}) {
    const ProgramResult absent = run({command, "ready_death"});
    EXPECT_EQ(absent.exit_code, 2) << absent.Describe();
    EXPECT_THAT(absent.errors, HasSubstr("there is no backend ready_death"));
  }
}

TEST_F(Quarantine, WhatIsDisabledAndEnabledWithoutAnApplicationIsOnRecord) {
  const auto run = [&](std::vector<std::string> arguments) {
    return RunAlone(
        std::move(arguments),
        {{"BULKHEAD_ADD_PATH", installation_.options().plugin_path->front()}});
  };
  const ProgramResult disabled = run({"disable", "honest"});
  if (!disabled.started) GTEST_SKIP() << "there is no unshare";
  EXPECT_EQ(disabled.exit_code, 0) << disabled.Describe();
  EXPECT_THAT(disabled.output,
              HasSubstr("disabled honest for applications that start later"));
  EXPECT_EQ(Info(*NewHost(), "honest").state, "disabled");
  EXPECT_EQ(run({"enable", "honest"}).exit_code, 0);
  EXPECT_EQ(Info(*NewHost(), "honest").state, "discovered");

  const ProgramResult reloaded = run({"reload", "honest"});
  EXPECT_EQ(reloaded.exit_code, 2) << reloaded.Describe();
  for (const ProgramResult& none : {reloaded, run({"ps"})}) {
    EXPECT_THAT(none.errors,
                AllOf(HasSubstr("no application of "), HasSubstr("uid "),
                      HasSubstr("those of other users are not looked at")));
  }
}

TEST_F(Quarantine, ADisableWithoutARecordDisablesNothingAndSaysSo) {
  const HostOptions options = installation_.options();
  const auto run = [&](const std::string& state) {
    return RunProgram(
        {"unshare", ::geteuid() == 0 ? "-n" : "-rn",
         PathFromEnvironment("BULKHEAD_TEST_CLI"), "disable", "cpu"},
        {.environment = {{"BULKHEAD_LIBEXEC_DIR", options.libexec_dir},
                         {"BULKHEAD_STATE_DIR", state}}});
  };
  const ProgramResult nowhere = run("");
  if (!nowhere.started) GTEST_SKIP() << "there is no unshare";
  EXPECT_EQ(nowhere.exit_code, 2) << nowhere.Describe();
  EXPECT_THAT(nowhere.errors,
              HasSubstr("nothing is disabled: there is no state directory "
                        "(BULKHEAD_STATE_DIR is empty)"));
  const ProgramResult forgotten =
      RunProgram({"unshare", ::geteuid() == 0 ? "-n" : "-rn",
                  PathFromEnvironment("BULKHEAD_TEST_CLI"), "restart", "cpu"},
                 {.environment = {{"BULKHEAD_LIBEXEC_DIR", options.libexec_dir},
                                  {"BULKHEAD_STATE_DIR", "/proc/1/state"}}});
  EXPECT_NE(forgotten.exit_code, 0);
  EXPECT_THAT(forgotten.errors,
              AllOf(HasSubstr("nothing is forgotten: "), HasSubstr("/proc/1")));
  EXPECT_EQ(forgotten.output, "");
  const ProgramResult unusable = run("/proc/1/state");
  EXPECT_NE(unusable.exit_code, 0);
  EXPECT_THAT(unusable.errors,
              AllOf(HasSubstr("nothing is disabled: "), HasSubstr("/proc/1"),
                    Not(HasSubstr("this application"))));
}

// In a network namespace, where no other application answers the command.
TEST_F(Quarantine, WhatOnlyARunningApplicationKnowsIsSaidToBeSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may make the namespace";
  ipc::ForkedChild application([this] {
    if (::unshare(CLONE_NEWNET) != 0) return 1;
    HostOptions options = installation_.options();
    options.state_directory = "";
    const auto host = Host::Create(options);
    if (!host || !(*host)->Backends()) return 2;
    const ProgramResult result = RunProgram(
        {PathFromEnvironment("BULKHEAD_TEST_CLI"), "disable", "honest"},
        {.environment = {{"BULKHEAD_LIBEXEC_DIR", options.libexec_dir},
                         {"BULKHEAD_STATE_DIR", ""}}});
    EXPECT_EQ(result.exit_code, 2) << result.Describe();
    EXPECT_THAT(
        result.errors,
        AllOf(HasSubstr("honest is not disabled for applications that start "
                        "later, and running ones forget it when their "
                        "bulkheadd is replaced: there is no state directory"),
              Not(HasSubstr("nothing"))));
    EXPECT_THAT(result.output, HasSubstr("disabled honest in process " +
                                         std::to_string(::getpid())));
    EXPECT_EQ(Info(**host, "honest").state, "disabled");
    return HasFailure() ? 3 : 0;
  });
  EXPECT_EQ(application.Wait(), 0);
}

TEST_F(Quarantine, AHalfWrittenRecordIsNoneAndIsSaid) {
  AwaitQuarantine(*NewHost(), "ready_death");
  const fs::path record = Records().front();
  fs::resize_file(record, fs::file_size(record) / 2);
  const auto host = NewHost();
  EXPECT_THAT(host->Prewarm("ready_death").message(),
              Not(HasSubstr("quarantined")));
  bool said = false;
  const BackendReport report = host->Backends().value();
  for (const Diagnostic& diagnostic : report.diagnostics) {
    said |= diagnostic.file == record.string();
  }
  EXPECT_TRUE(said);
}

// A file may have taken the worker over.
TEST_F(Quarantine, LiesWithMediaCountAgainstNobody) {
  const auto host = NewHost();
  for (int i = 0; i < 2 * kTooMany; ++i) {
    const auto lied = CountFrames(*host, "frame_other_width");
    ASSERT_FALSE(lied);
    EXPECT_EQ(lied.error().code(), Code::kBackendMisbehaved) << lied.error();
  }
  EXPECT_EQ(Info(*host, "frame_other_width").state, "ready");
  EXPECT_TRUE(Records().empty());
  EXPECT_EQ(CountFrames(*host, "honest").value(), kMadeUpFrames);
}

TEST_F(Quarantine, WhatSaysWhyItCannotLoadIsOnlyTriedMoreSeldom) {
  const auto host = NewHost();
  Await([&] {
    EXPECT_FALSE(host->Prewarm("ready_failed").ok());
    EXPECT_EQ(Info(*host, "ready_failed").state, "backing-off");
    return Info(*host, "ready_failed").incarnation > uint32_t{kTooMany};
  });
  EXPECT_TRUE(Records().empty());
}

TEST_F(Quarantine, NobodyWaitsLongForABackendThatDiesAgainAndAgain) {
  HostOptions options = installation_.options();
  options.state_directory = state_.path();
  // More deaths than it takes until the backoff exceeds a second.
  options.limits.failures_per_backend = 4 * kTooMany;
  const auto host = Host::Create(options).value();
  Status ready = host->Prewarm("honest");
  for (int deaths = 0; ready.ok() && deaths < 2 * kTooMany; ++deaths) {
    const ProcessWatch zygote(Info(*host, "honest").zygote_pid);
    ASSERT_TRUE(zygote.Signal(SIGSEGV));
    Await([&] { return Info(*host, "honest").state == "backing-off"; });
    ready = host->Prewarm("honest");
  }
  EXPECT_EQ(ready.code(), Code::kBackendUnavailable) << ready;
  EXPECT_THAT(ready.message(), HasSubstr("waits before it is started again"));
}

TEST_F(Quarantine, KillsThatWeDidNotSendPunishNobody) {
  const auto host = NewHost();
  for (int i = 0; i < 4 * kTooMany; ++i) {
    auto video = host->OpenVideo(installation_.media(), {.device = "honest"});
    ASSERT_TRUE(video) << video.error();
    const ProcessWatch zygote(Info(*host, "honest").zygote_pid);
    const ProcessWatch worker(video->worker_pid());
    ASSERT_TRUE(zygote.Signal(SIGKILL) && worker.Signal(SIGKILL));
    ASSERT_TRUE(zygote.AwaitEnd());
    int frames = 0;
    while (video->Next().value()) ++frames;
    EXPECT_EQ(frames, kMadeUpFrames);
  }
  EXPECT_EQ(Info(*host, "honest").state, "ready");
  EXPECT_EQ(Info(*host, "honest").reason, "");
  EXPECT_GE(Info(*host, "honest").incarnation, uint32_t{4 * kTooMany});
  EXPECT_TRUE(Records().empty());
}

TEST_F(Quarantine, ADirectoryThatIsNotOursKeepsNothingAndIsSaid) {
  fs::permissions(state_.path(), fs::perms::all);
  const auto host = NewHost();
  Await([&] {
    EXPECT_FALSE(host->Prewarm("ready_death").ok());
    return Info(*host, "ready_death").state == "quarantined";
  });
  bool said = false;
  Await([&] {
    const BackendReport report = host->Backends().value();
    for (const Diagnostic& diagnostic : report.diagnostics) {
      said |= diagnostic.message.find("chmod go-w") != std::string::npos;
    }
    return said;
  });
  EXPECT_TRUE(Records().empty());
  EXPECT_THAT(NewHost()->Prewarm("ready_death").message(),
              Not(HasSubstr("quarantined")));
}

}  // namespace
}  // namespace bulkhead::tests
