// SPDX-License-Identifier: Apache-2.0
//
// The escape table: makes each attempt from the zygote and from a session, in
// one tier, and compares the outcome with the expected one. For the reduced
// tier, the test refuses the namespaces to this process before anything starts.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/escape/kernel_log.h"
#include "tests/escape/table/attempt.h"
#include "tests/escape/table/installation.h"
#include "tests/escape/table/outcome.h"
#include "tests/support/deadlines.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

using Start = Installation::Start;
constexpr Start kStarts[] = {Start::kClone, Start::kExec};

class EscapeTable : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* tier = std::getenv("BULKHEAD_TEST_TIER");
    reduced_ = tier != nullptr && std::string(tier) == "reduced";
    if (reduced_) {
      ASSERT_TRUE(RefuseNamespaces());
    }
    attempts_ = AllAttempts();
    installation_ = Installation::Make(reduced_).release();
  }
  static void TearDownTestSuite() {
    if (installation_ != nullptr) installation_->ExpectUnharmed();
    std::printf("%d of %d as expected, tier %s, uid %d\n", as_expected_, all_,
                Tier(), static_cast<int>(geteuid()));
    delete std::exchange(installation_, nullptr);
  }
  void SetUp() override {
    if (installation_ == nullptr) GTEST_SKIP() << "there is no clip to decode";
    const auto host = installation_->StartHost("none");
    const auto sandbox = host->Sandbox();
    ASSERT_TRUE(sandbox) << sandbox.error();
    std::string reasons;
    for (const auto& reason : sandbox->reasons) reasons += reason + "; ";
    if (sandbox->tier !=
        (reduced_ ? SandboxTier::kReduced : SandboxTier::kFull)) {
      GTEST_SKIP() << "this machine has no tier " << Tier() << ": " << reasons;
    }
    if (sandbox->landlock_abi < 6) {
      GTEST_SKIP() << "the table is written for Landlock ABI 6: " << reasons;
    }
  }

  // Returns what this kernel makes of an attempt whose outcome depends on it: a
  // call that passes by filters is harmless, and any other one is killed.
  static std::string_view Demanded(const Attempt& attempt,
                                   const Targets& targets) {
    constexpr int kOfProbes = 82;
    const std::string_view expected = attempt.expected.For(targets);
    if (attempt.row != kOfProbes) return expected;
    ipc::ForkedChild filtered([&] {
      if (!RefuseCall(attempt.number, ENOTNAM)) return 2;
      return syscall(attempt.number, -1, -1, -1) < 0 && errno == ENOTNAM ? 0
                                                                         : 1;
    });
    return filtered.Wait() == 0 ? expected.substr(0, 1) : expected.substr(2);
  }
  static std::unique_ptr<Host> StartHost(Start start) {
    auto host = installation_->StartHost("none", {}, start);
    const BackendReport report = host->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name != "escape") continue;
      EXPECT_EQ(backend.start, start == Start::kExec ? "exec" : "clone");
    }
    return host;
  }
  static const char* Session(Start start) {
    return start == Start::kExec ? "session, exec" : "session";
  }
  static const char* Tier() { return reduced_ ? "reduced" : "full"; }

  static void Expect(int row, const std::string& attempt, const char* stage,
                     std::string_view expected, const std::string& got,
                     bool matches) {
    ++all_;
    if (matches) ++as_expected_;
    ExpectOutcome(Escape(row), attempt + ", " + Tier() + ", " + stage,
                  matches ? got : std::string(expected), got);
  }

  // Makes each attempt in a session of its own.
  static void ExpectFromSessions(Start start,
                                 const std::vector<Attempt>& attempts) {
    const auto host = StartHost(start);
    Deadlines short_deadlines;
    short_deadlines.open = kShort;
    const Targets& targets = installation_->targets();
    for (const Attempt& attempt : attempts) {
      const std::string_view expected = Demanded(attempt, targets);
      if (expected.starts_with("n/a")) continue;
      std::unique_ptr<Host> impatient;
      if (expected == "C:deadline") {
        impatient = installation_->StartHost("none", short_deadlines, start);
      }
      const auto opened = installation_->Open(impatient ? *impatient : *host,
                                              "attempt", attempt.name);
      ASSERT_FALSE(opened) << attempt.name;
      const std::string got = OutcomeOf(opened.error());
      Expect(attempt.row, attempt.name, Session(start), expected, got,
             Matches(expected, got));
    }
  }

  static bool reduced_;
  static int all_;
  static int as_expected_;
  static std::vector<Attempt> attempts_;
  static Installation* installation_;
};
bool EscapeTable::reduced_ = false;
int EscapeTable::all_ = 0;
int EscapeTable::as_expected_ = 0;
std::vector<Attempt> EscapeTable::attempts_;
Installation* EscapeTable::installation_ = nullptr;

// Also covers row 70: sessions of the zygote that made all attempts still
// decode.
TEST_F(EscapeTable, FromTheZygote) {
  const auto host = installation_->StartHost("all");
  const auto outcomes = ZygoteOutcomes(*installation_, *host);
  ASSERT_EQ(outcomes.size(), attempts_.size());
  Targets targets = installation_->targets();
  targets.in_zygote = true;
  for (size_t i = 0; i < attempts_.size(); ++i) {
    const std::string_view expected = Demanded(attempts_[i], targets);
    if (expected.starts_with("n/a")) continue;
    Expect(attempts_[i].row, attempts_[i].name, "zygote", expected, outcomes[i],
           Matches(expected, outcomes[i]));
  }
  const std::string said =
      Said(installation_->Decode(*host, "zygote", "itself"));
  Expect(70, "still_decodes", "zygote", "ok", said, said.starts_with("made "));
}

TEST_F(EscapeTable, FromASession) {
  ExpectFromSessions(Start::kClone, attempts_);
}

// The rows about what others see of a session and about its system calls: its
// filters and its memory are made anew for each session.
TEST_F(EscapeTable, FromASessionThatLoadsAnew) {
  std::vector<Attempt> some;
  std::ranges::copy_if(
      attempts_, std::back_inserter(some), [](const Attempt& attempt) {
        return attempt.row <= 6 || attempt.row == 82 || attempt.row == 89 ||
               (attempt.row >= 71 && attempt.row <= 76);
      });
  ExpectFromSessions(Start::kExec, some);
}

TEST_F(EscapeTable, TheSameProcessStillDecodes) {
  const auto host = installation_->StartHost("none");
  const std::string said =
      Said(installation_->Decode(*host, "harmless", "all"));
  Expect(70, "still_decodes", "session", "ok", said, said.starts_with("made "));
}

// A thread that a constructor of the library started.
TEST_F(EscapeTable, DeathByAThreadOfAConstructor) {
  const std::string got = OutcomeInZygote(*installation_, "@setns");
  Expect(23, "thread_of_constructor", "load", "K", got, got == "K");
}

// The message about the zygote's death contains the end of its log, in short
// and without control characters.
TEST_F(EscapeTable, LogOfADeadZygoteIsShortAndClean) {
  const auto host = installation_->StartHost("log_flood abort");
  const std::string message = host->Prewarm("escape").message();
  const bool told = message.find("it wrote: ") != std::string::npos;
  const bool clean =
      std::none_of(message.begin(), message.end(),
                   [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  const bool holds = told && clean && message.size() < 4096;
  Expect(55, "log_in_message", "load", "ok",
         holds ? "ok" : std::to_string(message.size()) + " bytes: " + message,
         holds);
}

// Returns the threads without "Seccomp: 2" in /proc, which every user may read.
std::string Unfiltered(int pid, int* threads) {
  namespace fs = std::filesystem;
  std::string found;
  for (const auto& task :
       fs::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
    ++*threads;
    std::ifstream status(task.path() / "status");
    std::string text{std::istreambuf_iterator<char>(status), {}};
    for (const char* line :
         {"\nSeccomp:\t2\n", "\nNoNewPrivs:\t1\n",
          "\nCapPrm:\t0000000000000000\n", "\nCapEff:\t0000000000000000\n"}) {
      if (text.find(line) == std::string::npos) {
        found += task.path().string() + " lacks" + line;
      }
    }
  }
  return found;
}

TEST_F(EscapeTable, EveryThreadIsFiltered) {
  const auto host = installation_->StartHost("none");
  auto video = installation_->Open(*host, "", "", 4);
  ASSERT_TRUE(video) << video.error();
  const auto report = host->Backends();
  ASSERT_TRUE(report) << report.error();
  int threads = 0;
  std::string found;
  for (const BackendInfo& backend : report->backends) {
    if (backend.zygote_pid == 0) continue;
    found += Unfiltered(backend.zygote_pid, &threads);
    for (const int pid : backend.session_pids) {
      found += Unfiltered(pid, &threads);
    }
  }
  EXPECT_GE(threads, 2);
  Expect(23, "every_thread_is_filtered", "both", "ok",
         found.empty() ? "ok" : found, found.empty());
}

// Speculation is off for good, where the kernel lets a process disable it.
TEST_F(EscapeTable, SpeculationIsAsDeclared) {
  const auto host = installation_->StartHost("none");
  auto video = installation_->Open(*host);
  ASSERT_TRUE(video) << video.error();
  std::ifstream status("/proc/" + std::to_string(video->worker_pid()) +
                       "/status");
  std::string state = "not told by this kernel";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Speculation_Store_Bypass:\t")) {
      state = line.substr(line.find('\t') + 1);
    }
  }
  const bool left_on = state.ends_with("thread vulnerable") ||
                       state.ends_with("thread mitigated");
  Expect(69, "store_bypass", "session", "force mitigated, or no such switch",
         state, !left_on);
}

// Returns the two limits of the size of a core. The kernel writes no core, and
// starts no program that core_pattern names, if they are 1.
std::string CoreLimitsOf(int pid) {
  std::ifstream limits("/proc/" + std::to_string(pid) + "/limits");
  const std::string text{std::istreambuf_iterator<char>(limits), {}};
  const std::string name = "Max core file size";
  const size_t line = text.find(name);
  if (line == std::string::npos) return "unknown";
  std::istringstream numbers(text.substr(line + name.size()));
  std::string soft, hard;
  numbers >> soft >> hard;
  return soft + " " + hard;
}

TEST_F(EscapeTable, ACrashLeavesNoCoreAndStartsNoProgram) {
  const auto host = installation_->StartHost("none");
  auto video = installation_->Open(*host);
  ASSERT_TRUE(video) << video.error();
  const BackendReport report = host->Backends().value();
  for (const BackendInfo& backend : report.backends) {
    if (backend.name != "escape") continue;
    const std::string of_zygote = CoreLimitsOf(backend.zygote_pid);
    Expect(56, "limits_of_core", "zygote", "1 1", of_zygote,
           of_zygote == "1 1");
  }
  const std::string of_worker = CoreLimitsOf(video->worker_pid());
  Expect(56, "limits_of_core", "session", "1 1", of_worker, of_worker == "1 1");
}

// The kernel reads the arguments from the memory of the process, which could
// write there what it decodes.
TEST_F(EscapeTable, ArgumentsAreEmpty) {
  for (const Start start : kStarts) {
    const auto host = StartHost(start);
    auto video = installation_->Open(*host);
    ASSERT_TRUE(video) << video.error();
    std::ifstream file("/proc/" + std::to_string(video->worker_pid()) +
                       "/cmdline");
    ASSERT_TRUE(file);
    const std::string arguments{std::istreambuf_iterator<char>(file), {}};
    Expect(71, "arguments", Session(start), "", arguments, arguments.empty());
  }
}

// Returns which pages of a file are in memory, as everybody can see who may
// read the file.
std::vector<bool> InMemory(const std::string& path) {
  const ipc::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<bool> pages;
  for (size_t at = 0; at < kMappedBytes; at += 4096) {
    char byte;
    const iovec into = {.iov_base = &byte, .iov_len = 1};
    pages.push_back(
        preadv2(file.get(), &into, 1, static_cast<off_t>(at), RWF_NOWAIT) == 1);
  }
  return pages;
}

void DropFromMemory(const std::string& path) {
  const ipc::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  fsync(file.get());
  posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

// A zygote that gives the pages up holds nothing for its sessions.
class PagesOfFiles : public EscapeTable,
                     public testing::WithParamInterface<const char*> {};

TEST_P(PagesOfFiles, AreInMemoryWhateverASessionDoes) {
  for (const Start start : kStarts) {
    const auto host = installation_->StartHost(GetParam(), {}, start);
    const std::string& file = installation_->mapped_file();
    DropFromMemory(file);
    if (std::ranges::count(InMemory(file), true) > 0) {
      GTEST_SKIP() << "this file system keeps its files in memory";
    }
    auto before = installation_->Open(*host);
    ASSERT_TRUE(before) << before.error();
    const auto said =
        installation_->Open(*host, "attempt", "touch_file").error();
    ASSERT_EQ(Said(said), "ok");
    // What somebody else drops, a session could bring back.
    DropFromMemory(file);
    const auto pages = InMemory(file);
    const auto missing = std::ranges::count(pages, false);
    Expect(75, std::string("pages_not_in_memory, zygote ") + GetParam(),
           Session(start), "0", std::to_string(missing), missing == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Zygote, PagesOfFiles,
                         testing::Values("none", "release_file"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

// Each end of a worker with media that it can cause itself.
TEST_F(EscapeTable, TheKernelLogsNothing) {
  KernelLog log;
  if (!log.readable()) GTEST_SKIP() << "only root may read the kernel's log";
  for (const Start start : kStarts) {
    const auto host = StartHost(start);
    for (const char* end :
         {"fault", "breakpoint", "return_without_frame", "forbidden_with_media",
          "setns", "tgkill_oneself"}) {
      auto video = installation_->Open(*host, "later", end);
      ASSERT_TRUE(video) << video.error();
      const int pid = video->worker_pid();
      auto frame = video->Next();
      while (frame && *frame) frame = video->Next();
      ASSERT_FALSE(frame) << end;
      const std::string got = OutcomeOf(frame.error());
      EXPECT_TRUE(got == "K" || got.starts_with("signal "))
          << end << ": " << got;
      const std::string logged = log.About(pid);
      Expect(72, std::string("log_of_") + end, Session(start), "", logged,
             logged.empty());
    }
  }
}

}  // namespace
}  // namespace bulkhead::tests
