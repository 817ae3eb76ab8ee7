// SPDX-License-Identifier: Apache-2.0
//
// Tests the worker that bulkheadd has cloned for the next session.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
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

using std::chrono::milliseconds;

constexpr milliseconds kPatience{20'000};

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
    if (clip_.empty()) return;
    HostOptions options;
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

  // Waits for a worker that serves none of `sessions`. Returns 0 if there is
  // none.
  pid_t AwaitSpare(const std::vector<const VideoDecoder*>& sessions) {
    std::set<pid_t> known = backend_;
    for (const VideoDecoder* session : sessions) {
      known.insert(session->worker_pid());
    }
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      for (const pid_t pid : DescendantsOf(host_->supervisor_pid())) {
        // A clone that is being made has fewer filters.
        if (!known.contains(pid) &&
            StatusOf(pid, "Seccomp_filters") ==
                StatusOf(*known.rbegin(), "Seccomp_filters")) {
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
  for (const auto& entry : std::filesystem::directory_iterator(
           "/proc/" + std::to_string(spare) + "/fd")) {
    const std::string target =
        std::filesystem::read_symlink(entry.path()).string();
    EXPECT_TRUE(target == "/dev/null" || target.starts_with("socket:") ||
                target.starts_with("pipe:"))
        << target;
  }
}

TEST_F(SpareWorker, IsMadeAnewIfItHasEnded) {
  VideoDecoder first = Open();
  for (int i = 0; i < 3; ++i) {
    const pid_t spare = AwaitSpare({&first});
    ASSERT_NE(spare, 0);
    const ProcessWatch watch(spare);
    ASSERT_TRUE(watch.Signal(SIGKILL));
    ASSERT_TRUE(watch.AwaitEnd(kPatience));
    VideoDecoder next = Open();
    EXPECT_NE(next.worker_pid(), spare);
    EXPECT_TRUE(next.Next().value());
  }
  EXPECT_TRUE(first.Next().value());
}

TEST_F(SpareWorker, OfAZygoteThatHasEndedIsNotTaken) {
  pid_t spare = 0;
  {
    VideoDecoder first = Open();
    spare = AwaitSpare({&first});
    ASSERT_NE(spare, 0);
    const ProcessWatch watch(zygote());
    ASSERT_TRUE(watch.Signal(SIGKILL));
    ASSERT_TRUE(watch.AwaitEnd(kPatience));
    VideoDecoder second = Open();
    EXPECT_NE(second.worker_pid(), spare);
    EXPECT_TRUE(second.Next().value());
    EXPECT_TRUE(first.Next().value());
  }
  EXPECT_TRUE(ProcessWatch(spare).AwaitEnd(kPatience));
}

}  // namespace
}  // namespace bulkhead::tests
