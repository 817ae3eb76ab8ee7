// SPDX-License-Identifier: Apache-2.0
//
// A process of a backend that no parent-death signal binds to anybody, and
// which waits for nothing but its end, ends with the application and with
// bulkheadd, in both tiers, even if its zygote ended before.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "ipc/testing/forked_child.h"
#include "tests/chaos/held.h"
#include "tests/liars/lying_installation.h"
#include "tests/support/process_watch.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// bound: the time in which all processes end, as the design promises.
constexpr milliseconds kAllGone{2'000};
constexpr milliseconds kStart{20'000};
constexpr const char* kLie = "clone_without_death_signal";

enum class Victim { kApplication, kBulkheadd };

struct End {
  const char* name;
  Victim victim;
  int signal;
  bool reduced = false;
  bool zygote_first = false;
};

void PrintTo(const End& end, std::ostream* out) { *out << end.name; }

class DeathSignal : public testing::TestWithParam<End> {};

// The processes of an application that the test signals and watches.
struct Pids {
  pid_t bulkheadd = 0;
  pid_t zygote = 0;
  pid_t session = 0;  // the worker of the session that is being opened
};

// Opens a session that never comes, and writes Pids to `pipe` once bulkheadd
// has the session's worker. A worker that bulkheadd has not confirmed yet is
// ended with its zygote.
int BeApplication(const LyingInstallation& installation, bool reduced,
                  int pipe) {
  HostOptions options = installation.options();
  options.sandbox_floor = SandboxTier::kReduced;
  if (reduced && !RefuseNamespaces()) return 1;
  const auto host = Host::Create(options).value();
  if (const Status ready = host->Prewarm(kLie); !ready.ok()) {
    std::cerr << ready << '\n';
    return 1;
  }
  const std::jthread opening(
      [&] { (void)host->OpenVideo(installation.media(), {.device = kLie}); });
  Pids pids = {.bulkheadd = host->supervisor_pid()};
  while (pids.session == 0) {
    const BackendReport report = host->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name != kLie || backend.session_pids.empty()) continue;
      pids.zygote = backend.zygote_pid;
      pids.session = backend.session_pids.front();
    }
  }
  if (write(pipe, &pids, sizeof pids) != sizeof pids) return 1;
  for (;;) pause();
}

TEST_P(DeathSignal, IsNotNeeded) {
  const LyingInstallation installation({kLie});
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ipc::ForkedChild application(
      [&] { return BeApplication(installation, GetParam().reduced, pipe[1]); });
  ::close(pipe[1]);
  Pids pids;
  ASSERT_EQ(read(pipe[0], &pids, sizeof pids), ssize_t{sizeof pids});
  ::close(pipe[0]);
  ASSERT_EQ(AwaitHeld(pids.session, kStart), pids.session);
  std::vector<ProcessWatch> processes;
  for (const pid_t pid : DescendantsOf(pids.bulkheadd)) {
    processes.emplace_back(pid);
  }
  processes.emplace_back(pids.bulkheadd);
  const ProcessWatch zygote(pids.zygote);
  if (GetParam().zygote_first) {
    ASSERT_TRUE(zygote.Signal(SIGKILL));
    ASSERT_TRUE(zygote.AwaitEnd(kStart));
    ASSERT_TRUE(IsHeld(pids.session)) << "a session ends with its zygote";
  }
  if (GetParam().victim == Victim::kApplication) {
    application.Signal(GetParam().signal);
  } else {
    ASSERT_EQ(kill(pids.bulkheadd, GetParam().signal), 0);
  }
  const auto left = AwaitEndOfAll(processes, kAllGone);
  ExpectAtMost(Fault(36), GetParam().name, 0, static_cast<int64_t>(left.size()),
               "processes after 2 s");
  for (const pid_t pid : left) kill(pid, SIGKILL);
}

constexpr End kEnds[] = {
    {"application_killed", Victim::kApplication, SIGKILL},
    {"application_crashed", Victim::kApplication, SIGSEGV},
    {"bulkheadd_killed", Victim::kBulkheadd, SIGKILL},
    {"zygote_and_application_killed", Victim::kApplication, SIGKILL, false,
     true},
    {"zygote_and_bulkheadd_killed", Victim::kBulkheadd, SIGKILL, false, true},
    {"application_killed_reduced", Victim::kApplication, SIGKILL, true},
    {"application_crashed_reduced", Victim::kApplication, SIGSEGV, true},
    {"bulkheadd_killed_reduced", Victim::kBulkheadd, SIGKILL, true},
    {"zygote_and_application_killed_reduced", Victim::kApplication, SIGKILL,
     true, true},
    {"zygote_and_bulkheadd_killed_reduced", Victim::kBulkheadd, SIGKILL, true,
     true},
};
INSTANTIATE_TEST_SUITE_P(Ends, DeathSignal, testing::ValuesIn(kEnds),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace bulkhead::tests
