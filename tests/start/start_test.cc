// SPDX-License-Identifier: Apache-2.0
//
// Tests start = "exec": each session loads the backend anew, in processes of
// its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bulkhead/crashes.h"
#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/start/layout_installation.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/refusals.h"

namespace bulkhead::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kExec[] = "start = \"exec\"\n";
constexpr const char* kPlaces[] = {"token", "object", "stack", "heap", "libc"};

int ParentOf(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; file >> word;) {
    if (word != "PPid:") continue;
    file >> word;
    return std::stoi(word);
  }
  return 0;
}

std::string Mounts() {
  std::ifstream file("/proc/self/mountinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

class StartByExec : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!IsReduced()) return;
    ASSERT_TRUE(RefuseNamespaces()) << std::strerror(errno);
  }

  static bool IsReduced() { return std::getenv("START_REDUCED") != nullptr; }

  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    expected_ = HashesByFfmpeg(clip_).value();
    ASSERT_EQ(expected_.size(), 120u);
  }

  void NewHost(HostOptions options) {
    if (IsReduced()) options.sandbox_floor = SandboxTier::kReduced;
    host_ = Host::Create(std::move(options)).value();
  }
  void NewHost() { NewHost(installation_.options()); }

  VideoDecoder Open() {
    return host_->OpenVideo(clip_, {.device = "layout"}).value();
  }

  BackendInfo Info() const {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "layout" && backend.state != "draining") {
        return backend;
      }
    }
    return {};
  }

  // Returns the zygote of the session that `worker` serves.
  static int ZygoteOf(int worker) {
    const int reaper = ParentOf(worker);
    EXPECT_GT(reaper, 1);
    const std::vector<pid_t> pids = DescendantsOf(reaper);
    EXPECT_EQ(pids.size(), 2u);
    if (reaper <= 1 || pids.size() != 2) return -1;
    return pids[0] == worker ? pids[1] : pids[0];
  }

  // Kills the worker of `video` and takes frames, from number `next` on, until
  // another worker serves it: frames that were decoded ahead come first.
  // Returns the number of the next frame.
  size_t Replace(VideoDecoder& video, size_t next) {
    const uint32_t before = video.recovery().restarts;
    const ProcessWatch worker(video.worker_pid());
    EXPECT_TRUE(worker.Signal(SIGKILL));
    EXPECT_TRUE(worker.AwaitEnd());
    while (video.recovery().restarts == before && next < expected_.size()) {
      Take(video, next++, 1);
    }
    EXPECT_EQ(video.recovery().restarts, before + 1);
    return next;
  }

  // Returns the children of bulkheadd.
  std::vector<pid_t> Reapers() const {
    std::vector<pid_t> reapers = DescendantsOf(host_->supervisor_pid());
    std::erase_if(reapers, [&](pid_t pid) {
      return ParentOf(pid) != host_->supervisor_pid();
    });
    return reapers;
  }

  // Asks bulkheadd until `condition` holds. Each condition waits for an answer,
  // so this is no busy loop.
  static void Await(const std::function<bool()>& condition) {
    const auto limit =
        std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) ASSERT_LT(std::chrono::steady_clock::now(), limit);
  }

  // Takes `count` frames and checks each.
  void Take(VideoDecoder& video, size_t first, size_t count) {
    for (size_t i = first; i < first + count; ++i) {
      auto frame = video.Next();
      ASSERT_TRUE(frame) << "frame " << i << ": " << frame.error();
      ASSERT_TRUE(*frame) << "frame " << i;
      ASSERT_EQ(HashOf(**frame), expected_[i]) << "frame " << i;
    }
  }
  void TakeRest(VideoDecoder& video, size_t first) {
    Take(video, first, expected_.size() - first);
    EXPECT_FALSE(video.Next().value());
  }

  const LayoutInstallation installation_{kExec};
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
};

TEST_F(StartByExec, SessionsHaveNothingInCommon) {
  NewHost();
  EXPECT_EQ(Info().tier,
            IsReduced() ? SandboxTier::kReduced : SandboxTier::kFull);
  EXPECT_EQ(Info().start, "exec");
  EXPECT_THAT(Info().start_reason, HasSubstr("manifest"));
  const Layout first = ReportOf(*host_, clip_);
  const Layout second = ReportOf(*host_, clip_);
  for (const char* place : kPlaces) {
    EXPECT_NE(first.at(place), second.at(place)) << place;
  }
  EXPECT_EQ(first.at("opened"), "1");
  EXPECT_EQ(second.at("opened"), "1");
}

TEST_F(StartByExec, AnOperatorRequiresItOfAVendorWhoSaysClone) {
  const LayoutInstallation vendor("start = \"clone\"\n");
  NewHost(vendor.options());
  EXPECT_EQ(Info().start, "clone");
  const Layout first = ReportOf(*host_, clip_);
  const Layout cloned = ReportOf(*host_, clip_);
  for (const char* place : kPlaces) {
    if (place == std::string("heap")) continue;
    EXPECT_EQ(first.at(place), cloned.at(place)) << place;
  }
  HostOptions required = vendor.options();
  required.backends_exec = {{"lay*"}};
  NewHost(required);
  EXPECT_EQ(Info().start, "exec");
  EXPECT_EQ(Info().start_reason,
            "required by \"lay*\" in option backends_exec");
  const Layout third = ReportOf(*host_, clip_);
  const Layout fourth = ReportOf(*host_, clip_);
  for (const char* place : kPlaces) {
    EXPECT_NE(third.at(place), fourth.at(place)) << place;
  }
}

TEST_F(StartByExec, EachSessionHasAReaperAndAZygoteThatEndWithIt) {
  NewHost();
  VideoDecoder stays = Open();
  std::vector<ProcessWatch> ends;
  {
    VideoDecoder video = Open();
    const int reaper = ParentOf(video.worker_pid());
    EXPECT_NE(reaper, ParentOf(stays.worker_pid()));
    EXPECT_NE(reaper, Info().reaper_pid);
    EXPECT_EQ(Info().session_pids.size(), 2u);
    for (const pid_t pid : DescendantsOf(reaper)) ends.emplace_back(pid);
    ASSERT_EQ(ends.size(), 2u) << "the zygote and its one worker";
    ends.emplace_back(reaper);
    Take(video, 0, 3);
  }
  EXPECT_THAT(AwaitEndOfAll(ends), IsEmpty());
  TakeRest(stays, 0);
  EXPECT_EQ(stays.recovery().restarts, 0u);
}

TEST_F(StartByExec, AKilledWorkerIsReplacedByAFreshOne) {
  NewHost();
  VideoDecoder video = Open();
  size_t next = 0;
  for (int round = 0; round < 4; ++round) {
    Take(video, next, 5);
    const ProcessWatch reaper(ParentOf(video.worker_pid()));
    next = Replace(video, next + 5);
    EXPECT_NE(ParentOf(video.worker_pid()), reaper.pid());
    EXPECT_TRUE(reaper.AwaitEnd());
  }
  TakeRest(video, next);
  EXPECT_EQ(Info().state, "ready");
}

TEST_F(StartByExec, AWorkersDeathIsTheInputsFaultAsWithClones) {
  NewHost();
  VideoDecoder video = Open();
  Take(video, 0, 1);
  EXPECT_NE(ZygoteOf(video.worker_pid()), Info().zygote_pid);
  const ProcessWatch worker(video.worker_pid());
  ASSERT_TRUE(worker.Signal(SIGABRT));
  ASSERT_TRUE(worker.AwaitEnd());
  TakeRest(video, 1);
  const auto crashes =
      ReadCrashes(installation_.options().state_directory).value().crashes;
  ASSERT_EQ(crashes.size(), 1u);
  EXPECT_EQ(crashes[0].process, "worker");
  EXPECT_EQ(crashes[0].blamed, "input");
  EXPECT_EQ(crashes[0].incarnation, 1u);
}

TEST_F(StartByExec, ALoadThatFailsLaterIsAFailureOfTheStart) {
  HostOptions options = installation_.options();
  options.limits.failures_per_backend = 3;
  NewHost(options);
  VideoDecoder before = Open();
  Take(before, 0, 3);
  installation_.OrderAtLoad("abort");
  const ProcessWatch zygote(Info().zygote_pid);
  const auto failed = host_->OpenVideo(clip_, {.device = "layout"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kBackendUnavailable);
  EXPECT_THAT(failed.error().message(),
              AllOf(HasSubstr("Failed to load the backend extension: layout"),
                    HasSubstr("a session could not load it"),
                    HasSubstr("signal 6"), HasSubstr("bulkhead crashes show")));
  EXPECT_EQ(Info().state, "backing-off");
  EXPECT_TRUE(zygote.AwaitEnd());
  const auto crashes = ReadCrashes(options.state_directory).value().crashes;
  ASSERT_EQ(crashes.size(), 1u);
  EXPECT_EQ(crashes[0].process, "zygote");
  EXPECT_EQ(crashes[0].blamed, "start");
  // The input is not to blame, and sessions that are open go on.
  Take(before, 3, 3);
  installation_.OrderAtLoad("");
  Await([&] {
    auto again = host_->OpenVideo(clip_, {.device = "layout"});
    if (!again) return false;
    TakeRest(*again, 0);
    return true;
  });
  TakeRest(before, 6);
  EXPECT_EQ(before.recovery().restarts, 0u);
  // The failures add up to a quarantine, as failed starts do.
  installation_.OrderAtLoad("abort");
  Await([&] {
    EXPECT_FALSE(host_->OpenVideo(clip_, {.device = "layout"}));
    return Info().state == "quarantined";
  });
}

TEST_F(StartByExec, ABackendThatDeclinesALaterLoadIsNotPunished) {
  NewHost();
  VideoDecoder before = Open();
  installation_.OrderAtLoad("null");
  const auto failed = host_->OpenVideo(clip_, {.device = "layout"});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::kBackendUnavailable);
  EXPECT_EQ(Info().state, "backing-off");
  EXPECT_THAT(
      ReadCrashes(installation_.options().state_directory).value().crashes,
      IsEmpty());
  TakeRest(before, 0);
}

TEST_F(StartByExec, TheZygoteOfASessionIsJudgedLikeAnyOther) {
  NewHost();
  VideoDecoder video = Open();
  Take(video, 0, 3);
  // Nobody's fault: the session goes on, and so does its worker's successor.
  const ProcessWatch killed(ZygoteOf(video.worker_pid()));
  ASSERT_NE(killed.pid(), Info().zygote_pid);
  ASSERT_TRUE(killed.Signal(SIGKILL));
  ASSERT_TRUE(killed.AwaitEnd());
  Take(video, 3, 3);
  const size_t next = Replace(video, 6);
  EXPECT_EQ(Info().state, "ready");
  // The backend's own: it backs off. A zygote is stopped while it has nothing
  // to do.
  const ProcessWatch crashed(ZygoteOf(video.worker_pid()));
  ASSERT_TRUE(crashed.Signal(SIGABRT));
  ASSERT_TRUE(crashed.Signal(SIGCONT));
  ASSERT_TRUE(crashed.AwaitEnd());
  Await([&] { return Info().state == "backing-off"; });
  const auto crashes =
      ReadCrashes(installation_.options().state_directory).value().crashes;
  ASSERT_EQ(crashes.size(), 1u);
  EXPECT_EQ(crashes[0].process, "zygote");
  EXPECT_EQ(crashes[0].blamed, "backend");
  TakeRest(video, next);
}

TEST_F(StartByExec, SessionsThatAreOpenedAtOnceLoadInTurns) {
  NewHost();
  VideoDecoder first = Open();
  const size_t idle = Reapers().size();
  installation_.OrderAtLoad("hang");
  std::vector<std::string> failures(12);
  std::vector<std::thread> threads;
  for (std::string& failure : failures) {
    threads.emplace_back([&] {
      auto video = host_->OpenVideo(clip_, {.device = "layout"});
      if (!video) {
        failure = video.error().message();
        return;
      }
      for (int n = 0; n < 5; ++n) {
        const auto frame = video->Next();
        if (!frame) failure = frame.error().message();
        if (frame && HashOf(**frame) != expected_[n]) failure = "differs";
      }
    });
  }
  Await([&] { return Reapers().size() >= idle + 4; });
  // Each answer gives bulkheadd the time to start more, if it did.
  for (int i = 0; i < 50; ++i) Info();
  const std::vector<pid_t> loading = Reapers();
  EXPECT_EQ(loading.size(), idle + 4);
  installation_.OrderAtLoad("");
  for (const pid_t reaper : loading) {
    // Those that hang have no worker yet.
    const std::vector<pid_t> pids = DescendantsOf(reaper);
    if (pids.size() == 1 && pids[0] != Info().zygote_pid) {
      ProcessWatch(pids[0]).Signal(SIGKILL);
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, testing::Each(IsEmpty()));
  EXPECT_EQ(Info().state, "ready");
  EXPECT_EQ(Info().incarnation, 1u);
}

TEST_F(StartByExec, AReloadLeavesOpenSessionsAlone) {
  NewHost();
  VideoDecoder video = Open();
  Take(video, 0, 3);
  const int worker = video.worker_pid();
  EXPECT_NE(ParentOf(worker), Info().reaper_pid);
  const ProcessWatch zygote(Info().zygote_pid);
  const Status reloaded = host_->Reload("layout");
  ASSERT_TRUE(reloaded.ok()) << reloaded;
  EXPECT_NE(Info().zygote_pid, zygote.pid());
  VideoDecoder another = Open();
  TakeRest(another, 0);
  Take(video, 3, 3);
  EXPECT_EQ(video.worker_pid(), worker);
  TakeRest(video, Replace(video, 6));
  // Its last session has gone to the successor.
  EXPECT_TRUE(zygote.AwaitEnd());
}

// A sandbox finds its files by their paths, so that no session can load files
// that were replaced: it waits for the new ones to be verified and checked.
TEST_F(StartByExec, TheNextSessionTakesTheFilesThatWereReplaced) {
  NewHost();
  VideoDecoder video = Open();
  Take(video, 0, 3);
  const int zygote = Info().zygote_pid;
  installation_.ReplaceObject();
  VideoDecoder another = Open();
  TakeRest(another, 0);
  EXPECT_NE(Info().zygote_pid, zygote);
  TakeRest(video, 3);
  EXPECT_EQ(video.recovery().restarts, 0u);
  EXPECT_THAT(
      ReadCrashes(installation_.options().state_directory).value().crashes,
      IsEmpty());
}

TEST_F(StartByExec, NoSessionLoadsFilesThatFailTheCheck) {
  NewHost();
  VideoDecoder video = Open();
  Take(video, 0, 3);
  const int zygote = Info().zygote_pid;
  installation_.OrderAtLoad("abort");
  installation_.ReplaceObject();
  for (int i = 0; i < 3; ++i) {
    const auto refused = host_->OpenVideo(clip_, {.device = "layout"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kBackendUnavailable);
    EXPECT_THAT(
        refused.error().message(),
        AllOf(HasSubstr("the files of the backend layout changed"),
              HasSubstr("signal 6"), HasSubstr("bulkhead reload layout")));
  }
  EXPECT_EQ(Info().zygote_pid, zygote);
  EXPECT_EQ(ReadCrashes(installation_.options().state_directory)
                .value()
                .crashes.size(),
            1u)
      << "the new files were tried once";
  installation_.OrderAtLoad("");
  const Status reloaded = host_->Reload("layout");
  ASSERT_TRUE(reloaded.ok()) << reloaded;
  VideoDecoder another = Open();
  TakeRest(another, 0);
  TakeRest(video, 3);
  EXPECT_EQ(video.recovery().restarts, 0u);
}

TEST_F(StartByExec, CommandsEndNoSession) {
  NewHost();
  VideoDecoder video = Open();
  Take(video, 0, 3);
  EXPECT_NE(ParentOf(video.worker_pid()), Info().reaper_pid);
  ASSERT_TRUE(host_->Restart("layout").ok());
  Take(video, 3, 3);
  VideoDecoder another = Open();
  ASSERT_TRUE(host_->Disable("layout").ok());
  EXPECT_FALSE(host_->OpenVideo(clip_, {.device = "layout"}));
  Take(another, 0, 3);
  TakeRest(video, 6);
  ASSERT_TRUE(host_->Enable("layout").ok());
  TakeRest(another, 3);
}

TEST_F(StartByExec, SessionsShareNoWorkerWhateverTheManifestSays) {
  const LayoutInstallation torn(
      "start = \"exec\"\nworker_scope = \"backend\"\n");
  NewHost(torn.options());
  VideoDecoder first = Open();
  VideoDecoder second = Open();
  EXPECT_NE(first.worker_pid(), second.worker_pid());
  EXPECT_NE(ParentOf(first.worker_pid()), ParentOf(second.worker_pid()));
  std::string told;
  const BackendReport report = host_->Backends().value();
  for (const Diagnostic& diagnostic : report.diagnostics) {
    told += diagnostic.message + "\n";
  }
  EXPECT_THAT(told, AllOf(HasSubstr("layout"), HasSubstr("worker_scope"),
                          HasSubstr("manifest")));
}

TEST_F(StartByExec, NothingIsLeft) {
  const std::string mounts = Mounts();
  NewHost();
  std::vector<ProcessWatch> processes;
  {
    std::vector<VideoDecoder> videos;
    for (int i = 0; i < 5; ++i) videos.push_back(Open());
    for (VideoDecoder& video : videos) Take(video, 0, 2);
    processes.emplace_back(host_->supervisor_pid());
    for (const pid_t pid : DescendantsOf(host_->supervisor_pid())) {
      processes.emplace_back(pid);
    }
    // bulkheadd, and six times reaper and zygote; five workers.
    EXPECT_EQ(processes.size(), 1 + 6 * 2 + 5u);
    host_.reset();
  }
  EXPECT_THAT(AwaitEndOfAll(processes), IsEmpty());
  EXPECT_EQ(Mounts(), mounts);
}

}  // namespace
}  // namespace bulkhead::tests
