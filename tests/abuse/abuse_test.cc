// SPDX-License-Identifier: Apache-2.0
//
// One session takes all resources that its worker can get. Until the worker is
// killed at its deadline, other sessions decode exactly what they always do,
// and new sessions open on another backend and on the abusive one. The reduced
// tier gives the same, except for what the README of core/supervisor/sandbox
// says that tier does not contain.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"
#include "tests/support/high_water.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// bound: the deadline that ends an abuse. The other sessions must be served
// until then.
constexpr milliseconds kOpenDeadline{4'000};
// What may be added to a trusted process by an abuse and by the sessions that
// decode beside it. bulkheadd only keeps the end of a log.
constexpr int64_t kMostGrowthKib = 8 * 1024;
constexpr int64_t kMostDescriptors = 24;
// bound: the time that a frame of another session may take while an abuse
// takes the processors. The tests run alone.
constexpr milliseconds kMostLatency{1'000};
// The limits of a worker: policy.h of core/supervisor/sandbox.
constexpr int64_t kTasks = 3072;
constexpr int64_t kDescriptors = 256;
// The rate at which bulkheadd reads an endless log. Its other reads are
// negligible.
constexpr long kMostLogBytesPerSecond = 1024 * 1024;
// What else bulkheadd reads for a session beside it: /proc/PID/maps of its
// worker, and of one that is cloned ahead.
constexpr long kMapsOfASession = 256 * 1024;
// The limit of a worker's memory, small enough for a test to use it up.
constexpr rlim_t kAddressSpace = rlim_t{1} << 30;

// Returns the number that follows the word `name` in the file /proc/PID/`file`.
long NumberIn(int pid, const std::string& file, const std::string& name) {
  std::ifstream words("/proc/" + std::to_string(pid) + "/" + file);
  for (std::string word; words >> word;) {
    if (word != name) continue;
    long value = 0;
    words >> value;
    return value;
  }
  return 0;
}

long BytesRead(int pid) { return NumberIn(pid, "io", "rchar:"); }

// The most that each process held during an abuse.
struct Marks {
  HighWater application;
  HighWater bulkheadd;
  HighWater session;  // of the session that held most of each

  void Look(Host& host) {
    application.Look(getpid());
    bulkheadd.Look(host.supervisor_pid());
    const auto report = host.Backends();
    if (!report) return;
    for (const BackendInfo& backend : report->backends) {
      for (const int pid : backend.session_pids) session.Look(pid);
    }
  }
};

// The rows of tests/rows.txt that an abuse proves.
struct Proof {
  const char* abuse;
  TableRow escape;
  TableRow fault;
};
constexpr Proof kProofs[] = {
    {"fork_bomb", Escape(49), Fault(23)},
    {"memory_bomb", Escape(50), Fault(24)},
    {"allocation_failure", Escape(50), Fault(24)},
    {"cpu_spin", Escape(51), Fault(16)},
    {"descriptor_flood", Escape(53), Fault(22)},
    {"log_flood", Escape(55), Fault(25)},
    {"sparse_file", Escape(52), Fault(24)},
    {"stop_itself", Escape(58), Fault(17)},
};

class Abuse : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() {
    const char* tier = std::getenv("BULKHEAD_TEST_TIER");
    reduced_ = tier != nullptr && std::string(tier) == "reduced";
    if (reduced_) {
      ASSERT_TRUE(RefuseNamespaces());
    }
    std::printf("tier %s, uid %d\n", reduced_ ? "reduced" : "full",
                static_cast<int>(geteuid()));
    char directory[] = "/tmp/abuse-XXXXXX";
    ASSERT_NE(mkdtemp(directory), nullptr);
    directory_ = directory;
    fs::permissions(directory_, fs::perms(0755));
    // Captures what any process writes to the application's stderr from now on.
    log_ = memfd_create("log", MFD_CLOEXEC);
    ASSERT_GE(dup2(log_, STDERR_FILENO), 0);
    CopyForAll(LibexecDirectory(), directory_ + "/libexec");
    CopyForAll(DistributionDirectory(), directory_ + "/plugins");
  }
  static void TearDownTestSuite() { fs::remove_all(directory_); }

  void SetUp() override {
    if (reduced_ && geteuid() != 0 && GetParam() == std::string("fork_bomb")) {
      GTEST_SKIP() << "in tier reduced tasks are not limited without a uid of "
                      "the backend's own (core/supervisor/sandbox/README.md)";
    }
    media_ = ClipOrSkip(Clip::kOddSize);
    if (media_.empty()) return;
    auto reference = HashesByFfmpeg(media_);
    ASSERT_TRUE(reference) << reference.error();
    hashes_ = *std::move(reference);
    Deadlines deadlines;
    deadlines.open = kOpenDeadline;
    host_ = StartHost(deadlines);
    ASSERT_NE(host_, nullptr);
    const auto sandbox = host_->Sandbox();
    ASSERT_TRUE(sandbox) << sandbox.error();
    if (sandbox->tier !=
        (reduced_ ? SandboxTier::kReduced : SandboxTier::kFull)) {
      GTEST_SKIP() << "this machine has no such tier";
    }
    // Limits all processes of all backends, which inherit bulkheadd's limit.
    const rlimit limit = {kAddressSpace, kAddressSpace};
    ASSERT_EQ(prlimit(host_->supervisor_pid(), RLIMIT_AS, &limit, nullptr), 0);
  }

  static std::unique_ptr<Host> StartHost(const Deadlines& deadlines) {
    auto host = Host::Create(
        {.plugin_path = std::vector<std::string>{directory_ + "/plugins"},
         .autoload = true,
         .sandbox_floor = SandboxTier::kReduced,
         .libexec_dir = directory_ + "/libexec",
         .limits = {.attempts_per_position = 1},
         .deadlines = deadlines});
    EXPECT_TRUE(host) << host.error();
    return host ? *std::move(host) : nullptr;
  }

  void ExpectExact(VideoDecoder& video, const std::string& who) {
    video.Rewind();
    for (const std::string& hash : hashes_) {
      const auto asked = Clock::now();
      const auto frame = video.Next();
      latency_ = std::max(latency_, std::chrono::duration_cast<milliseconds>(
                                        Clock::now() - asked));
      ASSERT_TRUE(frame) << who << ": " << frame.error();
      ASSERT_TRUE(*frame) << who;
      ASSERT_EQ(HashOf(**frame), hash) << who;
    }
    EXPECT_EQ(video.recovery().restarts, 0u) << who;
  }

  void ExpectNewSession(const std::string& device) {
    auto fresh = host_->OpenVideo(media_, {.device = device});
    ASSERT_TRUE(fresh) << device << ": " << fresh.error();
    ExpectExact(*fresh, "a new session of " + device);
  }

  // Stops the workers of the abusive backend.
  void StopSessionsBeside(int honest) {
    const auto report = host_->Backends();
    ASSERT_TRUE(report) << report.error();
    for (const BackendInfo& backend : report->backends) {
      if (backend.name != "abuse") continue;
      for (const int pid : backend.session_pids) {
        if (pid != honest) kill(pid, SIGSTOP);
      }
    }
  }

  // Running out of memory is an error of the call and does not end the worker.
  static std::string EndOf(const Status& status) {
    const ExitReport* exit = status.exit_report();
    if (exit == nullptr) return CodeName(status.code());
    if (exit->kind == ExitReport::Kind::kDeadline) return "deadline";
    if (exit->kind == ExitReport::Kind::kSandboxViolation) return "violation";
    return status.ToString();
  }

  // Expects that nobody held more than it may.
  void ExpectMarks(TableRow row, const HighWater& application,
                   const HighWater& bulkheadd, const Marks& most) const {
    ExpectAtMost(row, "memory of bulkheadd",
                 bulkheadd.resident_kib + kMostGrowthKib,
                 most.bulkheadd.resident_kib, "KiB");
    ExpectAtMost(row, "descriptors of bulkheadd",
                 bulkheadd.descriptors + kMostDescriptors,
                 most.bulkheadd.descriptors, "descriptors");
    ExpectAtMost(row, "threads of bulkheadd", bulkheadd.threads,
                 most.bulkheadd.threads, "threads");
    ExpectAtMost(row, "memory of the application",
                 application.resident_kib + kMostGrowthKib,
                 most.application.resident_kib, "KiB");
    ExpectAtMost(row, "descriptors of the application",
                 application.descriptors + kMostDescriptors,
                 most.application.descriptors, "descriptors");
    ExpectAtMost(row, "threads of the application", application.threads,
                 most.application.threads, "threads");
    ExpectAtMost(row, "memory of a worker", int64_t{kAddressSpace / 1024},
                 most.session.resident_kib, "KiB");
    ExpectAtMost(row, "descriptors of a worker", kDescriptors,
                 most.session.descriptors, "descriptors");
    ExpectAtMost(row, "tasks of a worker", kTasks, most.session.threads,
                 "tasks");
    ExpectAtMost(row, "a frame of another session", kMostLatency.count(),
                 latency_.count(), "ms");
  }

  static long BytesLogged() {
    struct stat log = {};
    EXPECT_EQ(fstat(log_, &log), 0);
    return log.st_size;
  }

  static int log_;
  static bool reduced_;
  static std::string directory_;
  std::string media_;
  std::vector<std::string> hashes_;
  std::unique_ptr<Host> host_;
  milliseconds latency_{};  // the longest time that a frame took
};
int Abuse::log_ = -1;
bool Abuse::reduced_ = false;
std::string Abuse::directory_;

TEST_P(Abuse, HurtsNobodyElse) {
  const std::string abuse = GetParam();
  auto of_other_backend = host_->OpenVideo(media_, {.device = "cpu"});
  ASSERT_TRUE(of_other_backend) << of_other_backend.error();
  auto of_same_backend = host_->OpenVideo(media_, {.device = "abuse"});
  ASSERT_TRUE(of_same_backend) << of_same_backend.error();
  // The session of the abuser, and the thread that waits for it, are not of
  // the abuse.
  ExpectNewSession("cpu");
  ExpectNewSession("abuse");
  const long read_before = BytesRead(host_->supervisor_pid());
  const auto began = Clock::now();
  auto abuser = std::async(std::launch::async, [&] {
    const auto opened = host_->OpenVideo(
        media_, {.device = "abuse", .backend_options = {{"abuse", abuse}}});
    return opened ? Status() : opened.error();
  });

  HighWater application;
  application.Look(getpid());
  HighWater bulkheadd;
  bulkheadd.Look(host_->supervisor_pid());
  ASSERT_GT(bulkheadd.resident_kib, 0);
  Marks most;
  int rounds = 0;
  latency_ = {};
  while (abuser.wait_for(milliseconds(0)) != std::future_status::ready) {
    // The filter keeps the worker from stopping itself, so the test stops it.
    if (abuse == "stop_itself") {
      StopSessionsBeside(of_same_backend->worker_pid());
    }
    ExpectExact(*of_other_backend, "a session of another backend");
    ExpectExact(*of_same_backend, "a session of the same backend");
    ExpectNewSession("cpu");
    ExpectNewSession("abuse");
    if (HasFatalFailure()) break;
    most.Look(*host_);
    ++rounds;
  }
  // An abuse that ends at once is looked at after its end at the latest.
  most.Look(*host_);
  const auto took =
      std::chrono::duration_cast<milliseconds>(Clock::now() - began);
  const long bytes_read = BytesRead(host_->supervisor_pid()) - read_before;
  const Status status = abuser.get();
  ASSERT_FALSE(status.ok());
  std::printf("%-18s %5d ms, %3d rounds beside it: %s\n", abuse.c_str(),
              static_cast<int>(took.count()), rounds,
              status.message().substr(0, 120).c_str());
  const std::string end = abuse == "allocation_failure" ? "kResourceExhausted"
                          : abuse == "sparse_file"      ? "violation"
                                                        : "deadline";
  if (end == "deadline") {
    EXPECT_GT(rounds, 0) << "nobody looked while it lasted";
  }
  for (const Proof& proof : kProofs) {
    if (abuse != proof.abuse) continue;
    for (const TableRow row : {proof.escape, proof.fault}) {
      ExpectOutcome(row, abuse, end, EndOf(status));
      ExpectMarks(row, application, bulkheadd, most);
      const long seconds = took.count() / 1000 + 1;
      ExpectAtMost(row, "log that bulkheadd reads a second",
                   kMostLogBytesPerSecond + rounds * kMapsOfASession / seconds,
                   bytes_read / seconds, "bytes");
    }
  }
  EXPECT_EQ(BytesLogged(), 0);
  EXPECT_EQ(status.message().find('\x1b'), std::string::npos);
  EXPECT_LT(status.message().size(), 4096u);
  // A new session on the same backend, without the abuse.
  ExpectNewSession("abuse");
  ExpectExact(*of_other_backend, "afterwards");
  ExpectExact(*of_same_backend, "afterwards");
}

INSTANTIATE_TEST_SUITE_P(Kinds, Abuse,
                         testing::Values("fork_bomb", "memory_bomb",
                                         "allocation_failure", "cpu_spin",
                                         "descriptor_flood", "log_flood",
                                         "sparse_file", "stop_itself"),
                         [](const auto& kind) {
                           return std::string(kind.param);
                         });

}  // namespace
}  // namespace bulkhead::tests
