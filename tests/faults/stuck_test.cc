// SPDX-License-Identifier: Apache-2.0
//
// A worker that SIGKILL does not end. The test has no driver that hangs on
// request. Where the freezer of cgroup version 1 may be used, it holds a
// process in state D in the same way. Elsewhere, an injection takes its place:
// the time until a worker is written off is set to zero.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kFrames = 120;

// Holds one process in state D during the life of the object.
class Freezer {
 public:
  static std::unique_ptr<Freezer> Freeze(pid_t pid) {
    const fs::path directory =
        "/sys/fs/cgroup/freezer/bulkhead-test-" + std::to_string(::getpid());
    std::error_code error;
    if (!fs::create_directory(directory, error)) return nullptr;
    std::unique_ptr<Freezer> freezer(new Freezer(directory));
    freezer->Write("cgroup.procs", std::to_string(pid));
    freezer->Write("freezer.state", "FROZEN");
    const auto end = Clock::now() + kPatience;
    while (freezer->State() != "FROZEN") {
      if (Clock::now() > end) return nullptr;
    }
    return freezer;
  }
  ~Freezer() {
    Write("freezer.state", "THAWED");
    const auto end = Clock::now() + kPatience;
    std::error_code error;
    // The cgroup cannot be removed until the process is gone.
    while (!fs::remove(directory_, error) && Clock::now() < end) {
    }
  }

 private:
  explicit Freezer(fs::path directory) : directory_(std::move(directory)) {}
  void Write(const char* file, const std::string& text) const {
    std::ofstream(directory_ / file) << text;
  }
  std::string State() const {
    std::string state;
    std::ifstream(directory_ / "freezer.state") >> state;
    return state;
  }

  const fs::path directory_;
};

class StuckWorker : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    NewHost(Deadlines().close);
    VideoDecoder video = Open();
    expected_ = HashesOfRest(video);
    ASSERT_EQ(expected_.size(), kFrames);
  }

  void NewHost(milliseconds close) {
    HostOptions options = installation_.options();
    options.deadlines.seek = kShort;
    options.deadlines.frame = kShort;
    options.deadlines.close = close;
    host_ = Host::Create(options).value();
  }
  VideoDecoder Open() {
    return host_->OpenVideo(clip_, installation_.Stream()).value();
  }
  std::vector<WrittenOffWorker> WrittenOff() {
    const RunningHosts running = FindRunningHosts(milliseconds(0)).value();
    for (const RunningHost& host : running.hosts) {
      if (host.supervisor_pid == host_->supervisor_pid()) {
        return host.written_off;
      }
    }
    ADD_FAILURE() << "the host was not found";
    return {};
  }
  static std::string Ps(std::vector<std::string> options = {}) {
    options.insert(options.begin(),
                   {PathFromEnvironment("BULKHEAD_TEST_CLI"), "ps"});
    const ProgramResult ps = RunProgram(options);
    return ps.output + ps.errors;
  }

  const ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
};

TEST_F(StuckWorker, IsWrittenOffShownAndNeverWaitedFor) {
  VideoDecoder video = Open();
  ASSERT_TRUE(video.Next().value());
  const pid_t pid = video.worker_pid();
  const ProcessWatch worker(pid);
  auto freezer = Freezer::Freeze(pid);
  if (!freezer) GTEST_SKIP() << "no freezer of cgroup version 1 here";
  video.Rewind();
  const auto began = Clock::now();
  ExpectSameFrames(Fault(17), "frozen in the kernel", expected_,
                   HashesOfRest(video));
  // The worker stays until it is thawed, so whoever waits for it does so for
  // ever.
  EXPECT_LT(Clock::now() - began, kPatience);
  EXPECT_EQ(video.recovery().restarts, 1u);
  EXPECT_NE(video.worker_pid(), pid);
  EXPECT_FALSE(worker.AwaitEnd(milliseconds(0)));

  const auto end = Clock::now() + kPatience;
  std::vector<WrittenOffWorker> written_off;
  while (written_off.empty() && Clock::now() < end) written_off = WrittenOff();
  ASSERT_EQ(written_off.size(), 1u);
  EXPECT_EQ(written_off[0].pid, pid);
  EXPECT_EQ(written_off[0].backend, "chaos");
  EXPECT_GE(written_off[0].since, Deadlines().close);
  const std::string line = "worker " + std::to_string(pid) + " of chaos";
  EXPECT_NE(Ps().find("written off: " + line), std::string::npos);
  EXPECT_NE(Ps({"--json"}).find("\"written_off\""), std::string::npos);

  // A second session, a restart and the end of the Host do not wait for the
  // worker.
  const auto again = Clock::now();
  {
    VideoDecoder another = Open();
    EXPECT_EQ(HashesOfRest(another), expected_);
    ASSERT_TRUE(host_->Restart("chaos").ok());
    VideoDecoder third = Open();
    EXPECT_EQ(HashesOfRest(third), expected_);
  }
  EXPECT_LT(Clock::now() - again, kPatience);

  freezer.reset();
  EXPECT_TRUE(worker.AwaitEnd());
  EXPECT_TRUE(WrittenOff().empty());
}

TEST_F(StuckWorker, DoesNotKeepTheHostFromEnding) {
  auto video = std::make_unique<VideoDecoder>(Open());
  ASSERT_TRUE(video->Next().value());
  const auto freezer = Freezer::Freeze(video->worker_pid());
  if (!freezer) GTEST_SKIP() << "no freezer of cgroup version 1 here";
  const ProcessWatch supervisor(host_->supervisor_pid());
  const auto began = Clock::now();
  video.reset();
  host_.reset();
  EXPECT_LT(Clock::now() - began, kPatience);
  EXPECT_TRUE(supervisor.AwaitEnd());
}

// An injection: every killed worker counts as one that does not die.
TEST_F(StuckWorker, LeavesItsMemoryToNobody) {
  NewHost(milliseconds(0));
  VideoDecoder video = Open();
  std::vector<Frame> held;
  for (int i = 0; i < 3; ++i) held.push_back(*video.Next().value());
  std::vector<std::string> hashes;
  for (const Frame& frame : held) hashes.push_back(HashOf(frame));
  const ProcessWatch worker(video.worker_pid());
  ASSERT_TRUE(worker.Signal(SIGSTOP));
  video.Rewind();
  EXPECT_EQ(HashesOfRest(video), expected_);
  EXPECT_EQ(video.recovery().restarts, 1u);
  for (size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(HashOf(held[i]), hashes[i]) << i;
  }
  EXPECT_TRUE(worker.AwaitEnd());
}

}  // namespace
}  // namespace bulkhead::tests
