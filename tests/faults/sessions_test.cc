// SPDX-License-Identifier: Apache-2.0
//
// Faults of tests/rows.txt about sessions and their processes that neither the
// kill matrix nor a lying worker covers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/chaos/held.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/debugger.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

// The milliseconds of a call that waits for nobody. The cases that compare it
// run alone, as closing_test.
constexpr int64_t kAtOnce = 2'500;

// Describes a zombie below `root` as /proc does; returns an empty string if
// none.
std::string ZombieBelow(pid_t root) {
  for (const pid_t pid : DescendantsOf(root)) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    if (text.find(") Z") != std::string::npos) return text;
  }
  return "";
}

int64_t MillisecondsSince(Clock::time_point began) {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - began).count();
}

class FaultySessions : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    host_ = Host::Create(installation_.options()).value();
    VideoDecoder video = Open();
    expected_ = HashesOfRest(video);
    ASSERT_EQ(expected_.size(), 120u);
  }

  VideoDecoder Open(const std::string& faults = "") {
    return host_->OpenVideo(clip_, installation_.Stream(faults)).value();
  }

  static std::vector<std::string> HashesOf(VideoDecoder& video, size_t count) {
    std::vector<std::string> hashes;
    while (hashes.size() < count) hashes.push_back(HashOf(**video.Next()));
    return hashes;
  }

  BackendInfo Backend() { return BackendOf("chaos"); }
  BackendInfo BackendOf(const std::string& name) {
    const BackendReport report = host_->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == name) return backend;
    }
    return {};
  }

  static void End(int pid, int signal = SIGKILL) {
    const ProcessWatch process(pid);
    ASSERT_TRUE(process.Signal(signal));
    ASSERT_TRUE(process.AwaitEnd());
  }

  const ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
};

// Row 1. Until the child executes the reaper, /proc shows it as a bulkheadd.
TEST_F(FaultySessions, AChildThatIsKilledBetweenForkAndExecIsAFailedStart) {
  const ProcessWatch supervisor(host_->supervisor_pid());
  std::atomic<bool> done = false;
  std::atomic<int> kills = 0;
  std::thread killer([&] {
    while (!done) {
      for (const pid_t pid : DescendantsOf(supervisor.pid())) {
        std::error_code gone;
        const auto program = std::filesystem::read_symlink(
            "/proc/" + std::to_string(pid) + "/exe", gone);
        if (program.filename() != "bulkheadd") continue;
        kills += ProcessWatch(pid).Signal(SIGKILL);
      }
    }
  });
  // The kill must hit a short moment, so each start is another try. There is a
  // back-off between two starts.
  const auto end = Clock::now() + kPatience;
  Status status;
  while (kills < 3 && Clock::now() < end) {
    status = host_->Prewarm("openreg");
    if (status.ok()) {
      End(BackendOf("openreg").zygote_pid);
    } else {
      EXPECT_TRUE(status.code() == Code::kBackendLost ||
                  status.code() == Code::kSandboxUnavailable)
          << status;
    }
  }
  done = true;
  killer.join();
  EXPECT_GE(kills, 3);
  while (!status.ok() && Clock::now() < end) status = host_->Prewarm("openreg");
  ExpectOutcome(Fault(1), "killed three times, then left alone", Code::kOk,
                status);
  // A process that has just ended is a zombie until its parent runs.
  std::string zombie;
  do {
    zombie = ZombieBelow(supervisor.pid());
  } while (!zombie.empty() && Clock::now() < end);
  ExpectOutcome(Fault(1), "zombies", "none", zombie.empty() ? "none" : zombie);
}

TEST_F(FaultySessions, AnInputIsAcquittedOfADeathThatTheNextWorkerSurvives) {
  // Each session loses its first worker at the same frame. Without an acquittal
  // the input would be refused there after the third.
  for (int session = 0; session < 5; ++session) {
    VideoDecoder video = Open("at=packet:40 do=segfault lives=1");
    EXPECT_EQ(HashesOfRest(video), expected_);
    EXPECT_EQ(video.recovery().restarts, 1u);
  }
}

// A worker that dies at once over a frame has not converted the one before,
// which takes long here.
TEST_F(FaultySessions, TheFrameThatWasDecodedIsBlamedNotTheOneBeingConverted) {
  constexpr size_t kFatal = 60;
  VideoOptions options = installation_.Stream();
  options.transforms = {
      Resize{.height = 960, .width = 1280, .filter = Resize::Filter::kLanczos}};
  VideoDecoder sound = host_->OpenVideo(clip_, options).value();
  std::vector<std::string> expected = HashesOf(sound, kFatal);
  const int64_t fatal = (**sound.Next()).pts().value();
  options.backend_options = {
      {"faults", "at=picture:" + std::to_string(fatal) + " do=exit:7"}};
  for (const uint32_t workers : {3, 0}) {
    VideoDecoder video = host_->OpenVideo(clip_, options).value();
    EXPECT_EQ(HashesOf(video, kFatal), expected);
    const auto refused = video.Next();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kPoisonedInput) << refused.error();
    ASSERT_NE(refused.error().exit_report(), nullptr);
    EXPECT_THAT(refused.error().exit_report()->position,
                HasSubstr("at frame 60"));
    EXPECT_EQ(video.recovery().restarts, workers);
  }
}

TEST_F(FaultySessions, ADeathWhileTheStreamIsOpenedAgainCountsForOpening) {
  VideoDecoder video = Open(
      "at=packet:40 do=segfault lives=1\n"
      "at=open do=segfault lives=2-9");
  Status end;
  for (size_t frames = 0; end.ok() && frames < expected_.size(); ++frames) {
    if (auto frame = video.Next(); !frame) end = frame.error();
  }
  EXPECT_EQ(end.code(), Code::kPoisonedInput) << end;
  ASSERT_NE(end.exit_report(), nullptr) << end;
  EXPECT_THAT(end.exit_report()->position, HasSubstr("opening"));
  EXPECT_EQ(video.recovery().restarts, 3u);
}

// Row 5.
TEST_F(FaultySessions, DeathWhileIdleIsRepairedWhenItIsNextNeeded) {
  VideoDecoder video = Open();
  ASSERT_TRUE(video.Next().value());
  for (const int signal : {SIGKILL, SIGSEGV}) {
    // It is stopped while the session runs, and would take the signal later.
    const ProcessWatch zygote(Backend().zygote_pid);
    ASSERT_TRUE(zygote.Signal(signal) && zygote.Signal(SIGCONT));
    ASSERT_TRUE(zygote.AwaitEnd());
    End(video.worker_pid(), signal);
    video.Rewind();
    ExpectSameFrames(Fault(5), strsignal(signal), expected_,
                     HashesOfRest(video));
  }
}

// Row 14.
TEST_F(FaultySessions, ASessionWhoseWorkerIsHeldOrStoppedClosesAtOnce) {
  for (const bool stopped : {false, true}) {
    std::optional<VideoDecoder> video =
        Open(stopped ? "" : "at=packet:4 do=hang");
    const ProcessWatch worker(video->worker_pid());
    if (stopped) {
      ASSERT_TRUE(worker.Signal(SIGSTOP));
    } else {
      ASSERT_TRUE(video->Next().value());
      ASSERT_EQ(AwaitHeld(host_->supervisor_pid(), kPatience), worker.pid());
    }
    const auto began = Clock::now();
    video.reset();
    ExpectAtMost(Fault(14),
                 stopped ? "closed while stopped" : "closed while held",
                 kAtOnce, MillisecondsSince(began), "ms");
    EXPECT_TRUE(worker.AwaitEnd());
  }
}

// Row 17. SIGSTOP stands for a driver that hangs.
TEST_F(FaultySessions, AStoppedWorkerIsKilledAtItsDeadlineAndReplaced) {
  HostOptions options = installation_.options();
  options.deadlines.seek = kShort;
  host_ = Host::Create(options).value();
  VideoDecoder video = Open();
  ASSERT_TRUE(video.Next().value());
  ASSERT_TRUE(ProcessWatch(video.worker_pid()).Signal(SIGSTOP));
  video.Rewind();
  ExpectSameFrames(Fault(17), "a stopped worker", expected_,
                   HashesOfRest(video));
  EXPECT_EQ(video.recovery().restarts, 1u);
  EXPECT_NE(video.recovery().last_cause.find("too long"), std::string::npos);
}

// Row 17. The reaper is trusted, but others may stop it.
TEST_F(FaultySessions, AStoppedReaperDelaysNoRunningSession) {
  VideoDecoder video = Open();
  const int reaper = Backend().reaper_pid;
  ASSERT_TRUE(ProcessWatch(reaper).Signal(SIGSTOP));
  ExpectSameFrames(Fault(17), "a stopped reaper", expected_,
                   HashesOfRest(video));
  ASSERT_TRUE(ProcessWatch(reaper).Signal(SIGCONT));
}

// Row 17. Nobody continues them.
TEST_F(FaultySessions, AStoppedProcessOfTheBackendIsReplacedWithinTheCall) {
  HostOptions options = installation_.options();
  options.deadlines.worker_start = kShort;
  std::string told;
  options.on_event = [&](const Event& event) { told += event.text + '\n'; };
  host_ = Host::Create(options).value();
  for (const bool reaper : {false, true}) {
    // One of them continues in the spare worker if there is one already. The
    // other needs a new one.
    VideoDecoder videos[] = {Open(), Open()};
    for (VideoDecoder& video : videos) ASSERT_TRUE(video.Next().value());
    const BackendInfo backend = Backend();
    const ProcessWatch stopped(reaper ? backend.reaper_pid
                                      : backend.zygote_pid);
    const Debugger debugger(stopped.pid());
    ASSERT_TRUE(debugger.stopped());
    for (VideoDecoder& video : videos) {
      ASSERT_TRUE(ProcessWatch(video.worker_pid()).Signal(SIGKILL));
      video.Rewind();
      ExpectSameFrames(Fault(17),
                       reaper ? "a stopped reaper, worker killed"
                              : "a stopped zygote, worker killed",
                       expected_, HashesOfRest(video));
    }
    EXPECT_TRUE(stopped.AwaitEnd()) << reaper;
    const std::string cause = told + videos[0].recovery().last_cause +
                              videos[1].recovery().last_cause;
    EXPECT_NE(cause.find((reaper ? "reaper (process " : "zygote (process ") +
                         std::to_string(stopped.pid())),
              std::string::npos)
        << cause;

    // Calls without a decoder go on as well: the first may in the spare worker.
    const ProcessWatch next(reaper ? Backend().reaper_pid
                                   : Backend().zygote_pid);
    const Debugger second(next.pid());
    ASSERT_TRUE(second.stopped());
    for (int i = 0; i < 2; ++i) {
      const auto probed = host_->Probe(clip_, {.device = "chaos"});
      EXPECT_TRUE(probed) << probed.error();
    }
    EXPECT_TRUE(next.AwaitEnd()) << reaper;
  }
}

// Another program ends workers by a signal that no crash raises. The file is
// sound.
TEST_F(FaultySessions, AWorkerThatIsAskedToEndSpeaksAgainstNoFile) {
  VideoDecoder video = Open("at=picture:8192 do=hang");
  // A worker may still convert the frame before when it hangs. Its death then
  // is one of that frame, and is forgotten once the frame is there.
  for (int frames = 0; frames < 8192 / 512; ++frames) {
    ASSERT_TRUE(video.Next().value()) << frames;
  }
  std::thread killer([this] {
    for (int death = 0; death < 3; ++death) {
      const auto held = AwaitHeld(host_->supervisor_pid(), kPatience);
      if (held) End(*held, SIGTERM);
    }
  });
  const Status end = video.Next().error();
  killer.join();
  EXPECT_EQ(end.code(), Code::kBackendLost) << end;
  EXPECT_THAT(end.message(), HasSubstr("sends its workers this signal"));
}

// A debugger or a freezer of batch jobs stops workers more often than an input
// may kill them.
TEST_F(FaultySessions, AWorkerThatOthersStopSpeaksAgainstNoFile) {
  HostOptions options = installation_.options();
  options.deadlines.frame = kShort;
  std::string told;
  options.on_event = [&](const Event& event) { told += event.text + '\n'; };
  host_ = Host::Create(options).value();
  const auto stop = [this](int lives) {
    return std::jthread([this, lives] {
      for (int life = 1; life <= lives; ++life) {
        const auto held = AwaitHeld(host_->supervisor_pid(), kPatience);
        if (held) End(*held, SIGSTOP);
      }
    });
  };
  VideoDecoder twice = Open("at=picture:8192 do=hang lives=1-2");
  {
    const std::jthread stopper = stop(2);
    EXPECT_EQ(HashesOfRest(twice), expected_);
  }
  EXPECT_EQ(twice.recovery().restarts, 2u);
  EXPECT_THAT(told, HasSubstr("another process had stopped it"));

  const std::string always = "at=picture:8192 do=hang";
  VideoDecoder stopped = Open(always);
  // A worker that is stopped while it still converts the frame before dies at
  // that frame, and the death is forgotten once the frame is there.
  for (int frames = 0; frames < 8192 / 512; ++frames) {
    ASSERT_TRUE(stopped.Next().value()) << frames;
  }
  {
    const std::jthread stopper = stop(3);
    const Status end = stopped.Next().error();
    EXPECT_EQ(end.code(), Code::kDeadlineExceeded) << end;
    EXPECT_THAT(end.message(), HasSubstr("another process stops its workers"));
  }
  // Three deaths that the input were to blame for would refuse it at once.
  VideoDecoder hangs = Open(always);
  for (int frames = 0; frames < 8192 / 512; ++frames) {
    ASSERT_TRUE(hangs.Next().value()) << frames;
  }
  EXPECT_THAT(hangs.Next().error().message(),
              HasSubstr("given up after 3 attempts"));
  EXPECT_GE(hangs.recovery().restarts, 2u);
}

// Or it would escape the blame for what it does.
TEST_F(FaultySessions, ABackendCannotAskItselfToEnd) {
  VideoDecoder video = Open("at=packet:40 do=terminate");
  EXPECT_EQ(HashesOfRest(video), expected_);
  EXPECT_EQ(video.recovery().restarts, 0u);
}

// Row 19.
TEST_F(FaultySessions, ASlowWorkerIsNotKilled) {
  VideoDecoder video = Open("at=packet:50 do=slow:1500\nat=packet do=slow:3");
  ExpectSameFrames(Fault(19), "slow, below the deadline", expected_,
                   HashesOfRest(video));
  EXPECT_EQ(video.recovery().restarts, 0u);
}

// Row 21. Somebody else holds every descriptor of the worker, so that its end
// closes none of them.
TEST_F(FaultySessions, AnEndThatClosesNothingIsSeen) {
  VideoDecoder video = Open();
  ASSERT_TRUE(video.Next().value());
  const ProcessWatch worker(video.worker_pid());
  const ipc::UniqueFd pidfd(
      static_cast<int>(syscall(SYS_pidfd_open, worker.pid(), 0)));
  std::vector<ipc::UniqueFd> held;
  for (int fd = 0; fd < 256; ++fd) {
    ipc::UniqueFd copy(
        static_cast<int>(syscall(SYS_pidfd_getfd, pidfd.get(), fd, 0)));
    if (copy) held.push_back(std::move(copy));
  }
  if (held.empty()) GTEST_SKIP() << "only root may copy a worker's descriptors";
  ASSERT_GE(held.size(), 4u);
  End(worker.pid());
  const auto began = Clock::now();
  video.Rewind();
  ExpectSameFrames(Fault(21), "ended, its descriptors held", expected_,
                   HashesOfRest(video));
  ExpectAtMost(Fault(21), "ended, its descriptors held, seen", kAtOnce,
               MillisecondsSince(began), "ms");
  EXPECT_NE(video.recovery().last_cause.find("signal 9"), std::string::npos)
      << video.recovery().last_cause;
}

// Row 33.
TEST_F(FaultySessions, ALateKillDoesNotReachAStrangerOfTheSameNumber) {
  std::optional<VideoDecoder> video = Open();
  const int pid = video->worker_pid();
  End(pid);
  std::optional<ipc::ForkedChild> stranger;
  for (int tries = 0; tries < 100; ++tries) {
    // The worker's pid is free once the reaper has reaped the worker.
    std::ofstream("/proc/sys/kernel/ns_last_pid") << pid - 1;
    stranger.emplace(ipc::ForkedChild::Sleeping());
    if (stranger->pid() == pid) break;
  }
  if (stranger->pid() != pid) {
    GTEST_SKIP() << "this machine does not let one choose a pid";
  }
  // Makes the decoder and bulkheadd release the dead worker.
  video.reset();
  VideoDecoder another = Open();
  EXPECT_EQ(HashesOfRest(another), expected_);
  ExpectOutcome(Fault(33), "a stranger of the same pid", "lives",
                stranger->IsAlive() ? "lives" : "was killed");
}

// Row 34.
TEST_F(FaultySessions, AnApplicationThatReapsEverythingStillLearnsTheCause) {
  signal(SIGCHLD, SIG_IGN);
  std::atomic<bool> done = false;
  std::thread reaping([&done] {
    while (!done) {
      waitpid(-1, nullptr, WNOHANG);
      std::this_thread::yield();
    }
  });
  VideoDecoder video = Open();
  ASSERT_TRUE(video.Next().value());
  End(video.worker_pid(), SIGSEGV);
  // bulkheadd is started again in this state too.
  End(host_->supervisor_pid());
  video.Rewind();
  EXPECT_EQ(HashesOfRest(video), expected_);
  End(video.worker_pid(), SIGSEGV);
  video.Rewind();
  EXPECT_EQ(HashesOfRest(video), expected_);
  const std::string cause = video.recovery().last_cause;
  ExpectOutcome(
      Fault(34), "the cause of a death", "signal 11",
      cause.find("signal 11") != std::string::npos ? "signal 11" : cause);
  done = true;
  reaping.join();
  signal(SIGCHLD, SIG_DFL);
}

// Row 35.
TEST_F(FaultySessions, TheEndOfTheThreadThatStartedThemEndsNothing) {
  std::unique_ptr<Host> host;
  std::optional<VideoDecoder> video;
  std::thread([&] {
    host = Host::Create(installation_.options()).value();
    video.emplace(host->OpenVideo(clip_, installation_.Stream()).value());
  }).join();
  const int worker = video->worker_pid();
  const int supervisor = host->supervisor_pid();
  ExpectSameFrames(Fault(35), "the thread has ended", expected_,
                   HashesOfRest(*video));
  EXPECT_EQ(video->worker_pid(), worker);
  EXPECT_EQ(video->recovery().restarts, 0u);
  EXPECT_EQ(host->supervisor_pid(), supervisor);
}

// Row 37.
TEST_F(FaultySessions, AForkedChildThatEndsDisturbsNothing) {
  VideoDecoder video = Open();
  ASSERT_TRUE(video.Next().value());
  const int worker = video.worker_pid();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(ipc::ForkedChild([] { return 0; }).Wait(), 0);
    ASSERT_TRUE(video.Next().value());
  }
  EXPECT_EQ(HashesOfRest(video).size(), expected_.size() - 11);
  EXPECT_EQ(video.worker_pid(), worker);
  ExpectOutcome(Fault(37), "restarts after ten children", "0",
                std::to_string(video.recovery().restarts));
}

// Row 37.
TEST_F(FaultySessions, AForkedChildIsToldThatTheHostIsNotItsOwn) {
  ipc::ForkedChild child([&] {
    const auto video = host_->OpenVideo(clip_, installation_.Stream());
    return !video && video.error().code() == Code::kUnsupported ? 0 : 1;
  });
  ExpectOutcome(Fault(37), "a child that uses the Host", "kUnsupported",
                child.Wait() == 0 ? "kUnsupported" : "another end");
}

// Row 47.
TEST_F(FaultySessions, AStoppedBulkheaddDelaysNoRunningSession) {
  VideoDecoder video = Open();
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  ExpectSameFrames(Fault(47), "stopped", expected_, HashesOfRest(video));
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
  video.Rewind();
  EXPECT_EQ(HashesOfRest(video), expected_);
}

// Row 47. Nobody continues the stopped process.
TEST_F(FaultySessions, AStoppedBulkheaddIsReplacedForWhoNeedsIt) {
  HostOptions options = installation_.options();
  options.deadlines.supervisor_start = kShort;
  host_ = Host::Create(options).value();
  VideoDecoder running = Open();
  ASSERT_TRUE(running.Next().value());
  { VideoDecoder video = Open(); }
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  VideoDecoder video = Open();
  EXPECT_TRUE(supervisor.AwaitEnd());
  EXPECT_NE(host_->supervisor_pid(), supervisor.pid());
  ExpectSameFrames(Fault(47), "stopped, asked for a session", expected_,
                   HashesOfRest(video));
  EXPECT_EQ(HashesOfRest(running).size(), expected_.size() - 1);
  EXPECT_TRUE(host_->Backends());
}

// Row 47.
TEST_F(FaultySessions, AStoppedBulkheaddIsReplacedForWhoAsksForNoSession) {
  HostOptions options = installation_.options();
  options.deadlines.supervisor_start = kShort;
  host_ = Host::Create(options).value();
  for (const auto& ask : std::vector<std::function<Status(Host&)>>{
           [](Host& host) { return host.Prewarm("chaos"); },
           [](Host& host) {
             const auto report = host.Backends();
             return report ? Status() : report.error();
           },
           [](Host& host) {
             const auto report = host.Sandbox();
             return report ? Status() : report.error();
           }}) {
    ASSERT_TRUE(host_->Backends());
    const ProcessWatch supervisor(host_->supervisor_pid());
    ASSERT_TRUE(supervisor.Signal(SIGSTOP));
    const Status asked = ask(*host_);
    ExpectOutcome(Fault(47), "stopped, asked for something else", Code::kOk,
                  asked);
    EXPECT_TRUE(supervisor.AwaitEnd());
  }
}

// Row 47. Nobody but bulkheadd says that a worker has ended, so that the wait
// goes on until the deadline of the step.
TEST_F(FaultySessions, AStoppedBulkheaddHidesAWorkersEndUntilTheDeadline) {
  HostOptions options = installation_.options();
  options.deadlines.supervisor_start = kShort;
  options.deadlines.seek = options.deadlines.frame = kShort;
  host_ = Host::Create(options).value();
  VideoDecoder video = Open("at=packet:60 do=hang lives=1");
  const ProcessWatch worker(video.worker_pid());
  const ProcessWatch supervisor(host_->supervisor_pid());
  std::thread killer([&] {
    if (AwaitHeld(supervisor.pid(), kPatience) != worker.pid()) return;
    supervisor.Signal(SIGSTOP);
    worker.Signal(SIGKILL);
  });
  ExpectSameFrames(Fault(47), "stopped, a worker killed", expected_,
                   HashesOfRest(video));
  killer.join();
  EXPECT_TRUE(supervisor.AwaitEnd());
  EXPECT_NE(host_->supervisor_pid(), supervisor.pid());
  EXPECT_EQ(video.recovery().restarts, 1u);
}

// Row 47. bulkheadd is no longer needed, so it is not worth waiting for.
TEST_F(FaultySessions, ADecoderIsClosedAlthoughBulkheaddIsStopped) {
  std::optional<VideoDecoder> video = Open();
  const ProcessWatch worker(video->worker_pid());
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  const auto began = Clock::now();
  video.reset();
  ExpectAtMost(Fault(47), "stopped, a decoder closed", kAtOnce,
               MillisecondsSince(began), "ms");
  EXPECT_TRUE(worker.AwaitEnd());
  ASSERT_TRUE(supervisor.Signal(SIGCONT));
  EXPECT_EQ(HashesOfRest(*(video = Open())), expected_);
  EXPECT_EQ(host_->supervisor_pid(), supervisor.pid());
}

// The record of delivered frames keeps the last 60, which is also the number of
// frames that a new worker may pass from a keyframe on.
TEST_F(FaultySessions, ALongStreamGoesOnWithAShortRecord) {
  HostOptions options = installation_.options();
  options.limits.index_frames = 60;
  host_ = Host::Create(options).value();
  VideoDecoder video = Open();
  std::vector<std::string> hashes = HashesOf(video, 70);
  End(video.worker_pid());
  for (std::string& hash : HashesOfRest(video)) {
    hashes.push_back(std::move(hash));
  }
  EXPECT_EQ(hashes, expected_);
  EXPECT_EQ(video.recovery().restarts, 1u);
}

// Without timestamps another worker has to begin with the first frame, and the
// record no longer shows whether it gives the same frames.
TEST_F(FaultySessions, ALongStreamWithoutTimestampsSaysThatItCannotGoOn) {
  const std::string raw = testing::TempDir() + "raw.h264";
  const ProgramResult made =
      RunProgram({"ffmpeg", "-v", "error", "-y", "-i", clip_, "-c", "copy",
                  "-f", "h264", raw});
  ASSERT_EQ(made.exit_code, 0) << made.Describe();
  HostOptions options = installation_.options();
  options.limits.index_frames = 4;
  host_ = Host::Create(options).value();
  VideoDecoder video = host_->OpenVideo(raw, installation_.Stream()).value();
  ASSERT_EQ(HashesOf(video, 70).size(), 70u);
  End(video.worker_pid());
  Status failed;
  for (int i = 0; i < 50 && failed.ok(); ++i) {
    const auto frame = video.Next();
    if (!frame) failed = frame.error();
  }
  EXPECT_EQ(failed.code(), Code::kResourceExhausted) << failed;
  EXPECT_THAT(failed.message(), HasSubstr("--limit index-frames=N"));
  video.Rewind();
  EXPECT_EQ(HashesOf(video, 70).size(), 70u);
}

// Row 48.
TEST_F(FaultySessions, AFileThatIsReplacedOrDeletedDisturbsNoRunningSession) {
  VideoDecoder video = Open();
  ASSERT_TRUE(video.Next().value());
  const std::string object = Backend().file;
  std::filesystem::remove(object);
  std::ofstream(object) << "half of an obj";
  EXPECT_EQ(HashesOfRest(video).size(), expected_.size() - 1);
  // The zygote still has the old file.
  End(video.worker_pid());
  video.Rewind();
  ExpectSameFrames(Fault(48), "replaced, worker killed", expected_,
                   HashesOfRest(video));
}

}  // namespace
}  // namespace bulkhead::tests
