// SPDX-License-Identifier: Apache-2.0
//
// Tests starts of a user whose other programs keep so many descriptors in
// flight through sockets that the kernel lets nobody of that user send another
// one. The kernel compares their number with the limit of the process that
// sends, so the test chooses whom a flood reaches by these limits.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "bulkhead/crashes.h"
#include "bulkhead/host.h"
#include "ipc/testing/forked_child.h"
#include "tests/support/process_watch.h"
#include "tests/support/refusals.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// More than a backend's processes may have open, and less than the test may.
constexpr rlim_t kFlood = 8'000;
// Less than that, and enough for the descriptors of a process.
constexpr rlim_t kFew = 200;

bool LimitDescriptors(pid_t pid, rlim_t descriptors) {
  rlimit limit = {};
  if (prlimit(pid, RLIMIT_NOFILE, nullptr, &limit) != 0) return false;
  limit.rlim_cur = descriptors;
  return prlimit(pid, RLIMIT_NOFILE, &limit, nullptr) == 0;
}

// Sends descriptors that nobody receives until the kernel refuses.
void SendUntilRefused() {
  constexpr int kEach = 250;
  alignas(cmsghdr) char space[CMSG_SPACE(kEach * sizeof(int))] = {};
  char byte = 0;
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof(space);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(kEach * sizeof(int));
  std::memset(CMSG_DATA(header), 0, kEach * sizeof(int));
  int ends[2];
  while (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0) {
    while (sendmsg(ends[0], &message, MSG_DONTWAIT) > 0) {
    }
    if (errno == ETOOMANYREFS) return;
  }
  std::abort();
}

// Another program of the user, which keeps that many descriptors in flight.
ipc::ForkedChild Flood(rlim_t descriptors) {
  return ipc::ForkedChild::Prepared([descriptors] {
    if (!LimitDescriptors(0, descriptors)) std::abort();
    SendUntilRefused();
  });
}

// Returns the value of a line "NAME: value" in the status of a thread, or 0.
long StatusOf(pid_t thread, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(thread) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) {
      return std::atol(line.c_str() + name.size() + 1);
    }
  }
  return 0;
}

class DescriptorFloodTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* const tier = std::getenv("BULKHEAD_TEST_TIER");
    reduced_ = tier != nullptr && std::string(tier) == "reduced";
    if (reduced_) {
      ASSERT_TRUE(RefuseNamespaces());
    }
  }

  void SetUp() override {
    if (geteuid() == 0) GTEST_SKIP() << "root may have any number in flight";
    rlimit limit = {};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max <= kFlood) GTEST_SKIP() << "too few descriptors";
    ASSERT_TRUE(LimitDescriptors(0, limit.rlim_max));
    most_ = limit.rlim_max;
    state_ = TemporaryDirectory() + "/state";
    media_ = TemporaryDirectory() + "/media";
    std::filesystem::remove_all(state_);
    std::ofstream(media_) << "no media";
    Start({});
  }

  void Start(const Deadlines& deadlines) {
    host_.reset();
    auto host = Host::Create({.state_directory = state_,
                              .sandbox_floor = SandboxTier::kReduced,
                              .libexec_dir = LibexecDirectory(),
                              .limits = {.failures_per_backend = 1},
                              .deadlines = deadlines});
    ASSERT_TRUE(host) << host.error();
    host_ = *std::move(host);
    const auto sandbox = host_->Sandbox();
    ASSERT_TRUE(sandbox) << sandbox.error();
    if (sandbox->tier !=
        (reduced_ ? SandboxTier::kReduced : SandboxTier::kFull)) {
      GTEST_SKIP() << "this machine has no such tier";
    }
  }

  // Returns how a session on a file without media ends.
  Status Open() {
    const auto video = host_->OpenVideo(media_, {.device = "cpu"});
    return video ? Status() : video.error();
  }
  static void ExpectOpened(const Status& status) {
    EXPECT_EQ(status.code(), Code::kBadInput) << status;
  }
  static void ExpectFlooded(const Status& status) {
    EXPECT_EQ(status.code(), Code::kResourceExhausted) << status;
    EXPECT_NE(status.message().find("in flight"), std::string::npos) << status;
    EXPECT_NE(status.message().find("try again"), std::string::npos) << status;
  }
  void ExpectNobodyWasBlamed() {
    const auto crashes = ReadCrashes(state_);
    ASSERT_TRUE(crashes) << crashes.error();
    EXPECT_EQ(crashes->crashes.size(), 0u);
  }
  BackendInfo Cpu() {
    const auto report = host_->Backends();
    EXPECT_TRUE(report) << report.error();
    for (const BackendInfo& backend : report->backends) {
      if (backend.name == "cpu") return backend;
    }
    return {};
  }

  static bool reduced_;
  rlim_t most_ = 0;
  std::string state_;
  std::string media_;
  std::unique_ptr<Host> host_;
};
bool DescriptorFloodTest::reduced_ = false;

TEST_F(DescriptorFloodTest, AStartWaitsUntilItIsOver) {
  auto flood = Flood(kFlood);
  auto started =
      std::async(std::launch::async, [&] { return host_->Prewarm("cpu"); });
  // From its first filter on, the zygote has a descriptor to send.
  const auto a_zygote_is_locked = [&] {
    for (const pid_t pid : DescendantsOf(host_->supervisor_pid())) {
      if (StatusOf(pid, "Seccomp_filters") >
          StatusOf(host_->supervisor_pid(), "Seccomp_filters")) {
        return true;
      }
    }
    return false;
  };
  // bound: the pause between two looks.
  while (started.wait_for(milliseconds(1)) == std::future_status::timeout &&
         !a_zygote_is_locked()) {
  }
  flood.Kill();
  const Status status = started.get();
  EXPECT_TRUE(status.ok()) << status;
  ExpectNobodyWasBlamed();
}

TEST_F(DescriptorFloodTest, AStartThatWaitsInVainIsNobodysFailure) {
  auto flood = Flood(kFlood);
  ExpectFlooded(host_->Prewarm("cpu"));
  flood.Kill();
  // One counted failure would have quarantined the backend.
  const Status status = host_->Prewarm("cpu");
  EXPECT_TRUE(status.ok()) << status;
  ExpectOpened(Open());
  ExpectNobodyWasBlamed();
}

enum class Victim { kApplication, kSupervisor, kReaper };

class VictimTest : public DescriptorFloodTest,
                   public testing::WithParamInterface<Victim> {
 protected:
  // Makes the victim the only one whom a small flood reaches.
  void LimitVictim() {
    pid_t victim = 0;
    if (GetParam() == Victim::kSupervisor) victim = host_->supervisor_pid();
    if (GetParam() == Victim::kReaper) victim = Cpu().reaper_pid;
    ASSERT_TRUE(LimitDescriptors(victim, kFew));
  }
};

TEST_P(VictimTest, ASessionWaitsUntilItIsOver) {
  ASSERT_TRUE(host_->Prewarm("cpu").ok());
  const pid_t zygote = Cpu().zygote_pid;
  auto flood = Flood(2 * kFew);
  LimitVictim();
  std::atomic<pid_t> caller = 0;
  auto opened = std::async(std::launch::async, [&] {
    caller = gettid();
    return Open();
  });
  while (caller == 0) std::this_thread::yield();
  pid_t victim = caller;
  if (GetParam() == Victim::kSupervisor) victim = host_->supervisor_pid();
  if (GetParam() == Victim::kReaper) victim = Cpu().reaper_pid;
  // The victim tries again and again, and sleeps in between.
  constexpr char kSlept[] = "voluntary_ctxt_switches";
  const long before = StatusOf(victim, kSlept);
  // bound: the pause between two looks.
  while (opened.wait_for(milliseconds(1)) == std::future_status::timeout &&
         StatusOf(victim, kSlept) < before + 20) {
  }
  EXPECT_EQ(opened.wait_for(milliseconds(0)), std::future_status::timeout);
  flood.Kill();
  ExpectOpened(opened.get());
  EXPECT_EQ(Cpu().zygote_pid, zygote);
  ExpectNobodyWasBlamed();
}

TEST_P(VictimTest, ASessionThatWaitsInVainIsNobodysFailure) {
  // bound: the time that the application waits in vain follows from these. The
  // tests run alone.
  Start({.backend_start = milliseconds(2'000),
         .worker_start = milliseconds(1'000)});
  ASSERT_TRUE(host_->Prewarm("cpu").ok());
  const pid_t zygote = Cpu().zygote_pid;
  auto flood = Flood(2 * kFew);
  LimitVictim();
  ExpectFlooded(Open());
  flood.Kill();
  ExpectOpened(Open());
  EXPECT_EQ(Cpu().zygote_pid, zygote);
  ExpectNobodyWasBlamed();
}

INSTANTIATE_TEST_SUITE_P(
    Flood, VictimTest,
    testing::Values(Victim::kApplication, Victim::kSupervisor, Victim::kReaper),
    [](const testing::TestParamInfo<Victim>& victim) -> std::string {
      switch (victim.param) {
        case Victim::kApplication:
          return "Application";
        case Victim::kSupervisor:
          return "Supervisor";
        case Victim::kReaper:
          return "Reaper";
      }
      return "";
    });

}  // namespace
}  // namespace bulkhead::tests
