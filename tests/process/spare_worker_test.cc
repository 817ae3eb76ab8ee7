// SPDX-License-Identifier: Apache-2.0
//
// Tests the worker that bulkheadd has cloned for the next session.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/debugger.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// Returns the value of a line of /proc/PID/status, without spaces.
std::string StatusOf(pid_t pid, const std::string& name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name + ":")) continue;
    line.erase(0, name.size() + 1);
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
    return line;
  }
  return "";
}

class SpareWorker : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (!clip_.empty()) StartHost({});
  }

  void StartHost(HostOptions options) {
    options.libexec_dir = LibexecDirectory();
    host_ = Host::Create(options).value();
    ASSERT_TRUE(host_->Prewarm("cpu").ok());
    // The reaper and the zygote are left once the probe of devices has ended.
    const auto end = std::chrono::steady_clock::now() + kPatience;
    do {
      sched_yield();
      const std::vector<pid_t> started = DescendantsOf(host_->supervisor_pid());
      backend_ = {started.begin(), started.end()};
    } while (backend_.size() != 2 && std::chrono::steady_clock::now() < end);
    ASSERT_EQ(backend_.size(), 2u);
  }

  VideoDecoder Open() { return host_->OpenVideo(clip_).value(); }

  // Waits for a worker that serves none of `sessions`, at least one. Returns 0
  // if there is none.
  pid_t AwaitSpare(const std::vector<const VideoDecoder*>& sessions) {
    std::set<pid_t> known = backend_;
    for (const VideoDecoder* session : sessions) {
      known.insert(session->worker_pid());
    }
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      for (const pid_t pid : DescendantsOf(host_->supervisor_pid())) {
        // A clone that is being made, as the zygote, has fewer filters than a
        // session's worker. Pids say nothing of that: they begin anew at times.
        if (!known.contains(pid) &&
            StatusOf(pid, "Seccomp_filters") ==
                StatusOf(sessions.front()->worker_pid(), "Seccomp_filters")) {
          return pid;
        }
      }
      sched_yield();
    }
    return 0;
  }

  pid_t zygote() const {
    const pid_t first = *backend_.begin();
    const std::vector<pid_t> below = DescendantsOf(first);
    const pid_t last = *backend_.rbegin();
    return std::count(below.begin(), below.end(), last) > 0 ? last : first;
  }

  pid_t reaper_pid() const {
    return *backend_.begin() == zygote() ? *backend_.rbegin()
                                         : *backend_.begin();
  }

  std::string clip_;
  std::unique_ptr<Host> host_;
  std::set<pid_t> backend_;
};

TEST_F(SpareWorker, IsTakenByTheNextSession) {
  VideoDecoder first = Open();
  const pid_t spare = AwaitSpare({&first});
  ASSERT_NE(spare, 0);
  VideoDecoder second = Open();
  EXPECT_EQ(second.worker_pid(), spare);
  EXPECT_NE(AwaitSpare({&first, &second}), 0);
  const std::vector<std::string> frames = HashesOfRest(first);
  EXPECT_GT(frames.size(), 10u);
  EXPECT_EQ(HashesOfRest(second), frames);
}

TEST_F(SpareWorker, StaysForASessionThatIsOpenedAfterAllWereClosed) {
  pid_t spare = 0;
  {
    VideoDecoder first = Open();
    spare = AwaitSpare({&first});
  }
  EXPECT_EQ(Open().worker_pid(), spare);
}

TEST_F(SpareWorker, IsLockedDownAndHasNoFileOfASession) {
  VideoDecoder first = Open();
  const pid_t spare = AwaitSpare({&first});
  ASSERT_NE(spare, 0);
  EXPECT_EQ(StatusOf(spare, "Seccomp"), "2");
  EXPECT_EQ(StatusOf(spare, "NoNewPrivs"), "1");
  std::error_code refused;
  const std::filesystem::directory_iterator descriptors(
      "/proc/" + std::to_string(spare) + "/fd", refused);
  if (refused) GTEST_SKIP() << "only root may see a worker's descriptors";
  int seen = 0;
  for (const auto& entry : descriptors) {
    ++seen;
    const std::string target =
        std::filesystem::read_symlink(entry.path()).string();
    EXPECT_TRUE(target == "/dev/null" || target.starts_with("socket:") ||
                target.starts_with("pipe:"))
        << target;
  }
  EXPECT_GT(seen, 0);
}

TEST_F(SpareWorker, IsMadeAnewIfItHasEnded) {
  VideoDecoder first = Open();
  for (int i = 0; i < 3; ++i) {
    const pid_t spare = AwaitSpare({&first});
    ASSERT_NE(spare, 0);
    const ProcessWatch watch(spare);
    ASSERT_TRUE(watch.Signal(SIGKILL));
    ASSERT_TRUE(watch.AwaitEnd());
    std::optional<VideoDecoder> next = Open();
    EXPECT_NE(next->worker_pid(), spare);
    EXPECT_TRUE(next->Next().value());
    // Until it has ended, its worker would be taken for the next spare.
    const ProcessWatch served(next->worker_pid());
    next.reset();
    ASSERT_TRUE(served.AwaitEnd());
  }
  EXPECT_TRUE(first.Next().value());
}

// Without the reaper, nobody reports the end to bulkheadd.
TEST_F(SpareWorker, ThatHasCrashedIsNotTakenAlthoughNobodyHasReapedIt) {
  VideoDecoder first = Open();
  const pid_t spare = AwaitSpare({&first});
  ASSERT_NE(spare, 0);
  const ProcessWatch reaper(reaper_pid());
  ASSERT_TRUE(reaper.Signal(SIGSTOP));
  const ProcessWatch watch(spare);
  EXPECT_TRUE(watch.Signal(SIGSEGV));
  EXPECT_TRUE(watch.AwaitEnd());
  auto opening = std::async(std::launch::async, [this] { return Open(); });
  // Opening needs the reaper, and does not get back to the host before.
  // bound: of what must not happen. Whoever looks late fails nothing.
  EXPECT_EQ(opening.wait_for(milliseconds(50)), std::future_status::timeout);
  ASSERT_TRUE(reaper.Signal(SIGCONT));
  VideoDecoder second = opening.get();
  EXPECT_NE(second.worker_pid(), spare);
  EXPECT_TRUE(second.Next().value());
  EXPECT_EQ(second.recovery().restarts, 0u);
}

TEST_F(SpareWorker, ThatIsStoppedDelaysNobody) {
  VideoDecoder first = Open();
  const pid_t spare = AwaitSpare({&first});
  ASSERT_NE(spare, 0);
  const ProcessWatch watch(spare);
  ASSERT_TRUE(watch.Signal(SIGSTOP));
  while (!StatusOf(spare, "State").starts_with("T")) sched_yield();
  VideoDecoder second = Open();
  EXPECT_NE(second.worker_pid(), spare);
  EXPECT_TRUE(second.Next().value());
  EXPECT_EQ(second.recovery().restarts, 0u);
  EXPECT_TRUE(watch.AwaitEnd());
}

TEST_F(SpareWorker, IsOneHoweverManySessionsAreOpenedAtOnce) {
  const auto open_two = [this] {
    auto other = std::async(std::launch::async, [this] { return Open(); });
    std::vector<VideoDecoder> sessions;
    sessions.push_back(Open());
    sessions.push_back(other.get());
    return AwaitSpare({&sessions[0], &sessions[1]});
  };
  const auto descriptors = [this] {
    return std::ranges::distance(
        std::filesystem::directory_iterator(
            "/proc/" + std::to_string(host_->supervisor_pid()) + "/fd"),
        std::filesystem::directory_iterator());
  };
  ASSERT_NE(open_two(), 0);
  const auto before = descriptors();
  for (int round = 0; round < 30; ++round) ASSERT_NE(open_two(), 0);
  // Those of sessions that bulkheadd has still to close.
  EXPECT_LE(descriptors(), before + 8);
}

TEST_F(SpareWorker, EndsWithTheZygoteOfADisabledBackend) {
  pid_t spare = 0;
  {
    VideoDecoder first = Open();
    spare = AwaitSpare({&first});
    ASSERT_NE(spare, 0);
  }
  const ProcessWatch watch(spare);
  ASSERT_TRUE(host_->Disable("cpu").ok());
  EXPECT_TRUE(watch.AwaitEnd());
}

// A stopped zygote clones no spare, and no session waits for one.
TEST_F(SpareWorker, ThatIsNeverClonedIsCountedAgainstNobody) {
  StartHost({.deadlines = {.worker_start = kShort}});
  VideoDecoder first = Open();
  ASSERT_NE(AwaitSpare({&first}), 0);
  const ProcessWatch stopped(zygote());
  const Debugger debugger(stopped.pid());
  ASSERT_TRUE(debugger.stopped());
  VideoDecoder second = Open();  // in the spare
  EXPECT_FALSE(stopped.AwaitEnd(2 * kShort));
  const auto report = host_->Backends().value();
  const auto cpu =
      std::ranges::find(report.backends, "cpu", &BackendInfo::name);
  ASSERT_NE(cpu, report.backends.end());
  EXPECT_EQ(cpu->state, "ready") << cpu->reason;
  // A session that needs the zygote does not wait longer than its deadline.
  VideoDecoder third = Open();
  EXPECT_TRUE(third.Next().value());
  EXPECT_TRUE(stopped.AwaitEnd());
}

TEST_F(SpareWorker, ThatIsWithheldKeepsNoZygoteAwake) {
  VideoDecoder first = Open();
  ASSERT_NE(AwaitSpare({&first}), 0);
  const ProcessWatch zygote_watch(zygote());
  const Debugger debugger(zygote_watch.pid());
  ASSERT_TRUE(debugger.stopped());
  // Takes the spare, so that the zygote is asked for another one.
  VideoDecoder second = Open();
  constexpr uint64_t kStop = uint64_t{1} << (SIGSTOP - 1);
  // A process under a debugger keeps the signal for later.
  EXPECT_TRUE(Await(
      [&] {
        const std::string pending = StatusOf(zygote_watch.pid(), "ShdPnd");
        return (std::stoull(pending, nullptr, 16) & kStop) != 0;
      },
      kPatience));
  EXPECT_GT(HashesOfRest(second).size(), 10u);
  EXPECT_TRUE(zygote_watch.Signal(SIGKILL));
}

TEST_F(SpareWorker, OfAZygoteThatHasEndedIsNotTaken) {
  pid_t spare = 0;
  {
    VideoDecoder first = Open();
    spare = AwaitSpare({&first});
    ASSERT_NE(spare, 0);
    const ProcessWatch watch(zygote());
    ASSERT_TRUE(watch.Signal(SIGKILL));
    ASSERT_TRUE(watch.AwaitEnd());
    VideoDecoder second = Open();
    EXPECT_NE(second.worker_pid(), spare);
    EXPECT_TRUE(second.Next().value());
    EXPECT_TRUE(first.Next().value());
  }
  EXPECT_TRUE(ProcessWatch(spare).AwaitEnd());
}

}  // namespace
}  // namespace bulkhead::tests
