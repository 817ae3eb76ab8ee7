// SPDX-License-Identifier: Apache-2.0
//
// Faults of tests/rows.txt about resources that a process runs short of, and
// about environments that change or lack something usual. Either everything is
// decoded as usual, or there is an error in time. Nothing is left over.

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/act_on_host.h"
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kLimit{30'000};

// Lowers a limit of a process until the object is destroyed.
class LoweredLimit {
 public:
  LoweredLimit(pid_t pid, __rlimit_resource resource, rlim_t value)
      : pid_(pid), resource_(resource) {
    prlimit(pid_, resource_, nullptr, &before_);
    const rlimit lowered = {std::min(value, before_.rlim_max),
                            before_.rlim_max};
    prlimit(pid_, resource_, &lowered, nullptr);
  }
  ~LoweredLimit() { prlimit(pid_, resource_, &before_, nullptr); }

 private:
  const pid_t pid_;
  const __rlimit_resource resource_;
  rlimit before_ = {};
};

size_t OpenDescriptors(pid_t pid) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry :
       fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    ++count;
  }
  return count;
}

// Returns a directory with copies of the programs, one of which may be
// replaced.
std::string CopyOfLibexec() {
  std::string path = TemporaryDirectory() + "/libexec-XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  fs::copy(LibexecDirectory(), path,
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  fs::permissions(path, fs::perms(0755));
  return path;
}

class FaultyEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kOddSize);
    if (clip_.empty()) return;
    expected_ = HashesByFfmpeg(clip_).value();
  }

  // Decodes the file. Adds a failure for a frame that differs from ffmpeg's.
  Status Decode(Host& host, const std::string& path) {
    auto video = host.OpenVideo(path, installation_.Stream());
    if (!video) return std::move(video).error();
    for (size_t i = 0;; ++i) {
      auto frame = video->Next();
      if (!frame) return std::move(frame).error();
      if (!*frame) {
        EXPECT_EQ(i, expected_.size());
        return Status();
      }
      EXPECT_TRUE(i < expected_.size() && HashOf(**frame) == expected_[i]) << i;
    }
  }
  Status Decode(Host& host) { return Decode(host, clip_); }

  // Repeats the test with an increasing limit of descriptors for the process:
  // from fewer than the process holds up to enough.
  void ExpectCleanAtEachCount(const std::string& what, pid_t pid_of(Host&)) {
    const Status status =
        ActOnHost(installation_.options(), kLimit, [&](Host& host) -> Status {
          std::map<std::string, int> outcomes;
          Status status = Decode(host);
          if (!status.ok()) return status;
          const size_t before = OpenDescriptors(pid_of(host));
          for (size_t most = 4; most < before + 32; ++most) {
            {
              // A bulkheadd with too few descriptors exits and is replaced.
              const LoweredLimit limit(pid_of(host), RLIMIT_NOFILE, most);
              status = Decode(host);
            }
            ++outcomes[CodeName(status.code())];
          }
          for (const auto& [outcome, count] : outcomes) {
            std::printf("  %2d times %s\n", count, outcome.c_str());
          }
          EXPECT_TRUE(status.ok()) << status;
          // A few more descriptors are pooled, but not one for each failure.
          ExpectAtMost(Fault(38), what + ", descriptors afterwards",
                       static_cast<int64_t>(before) + 4,
                       static_cast<int64_t>(OpenDescriptors(pid_of(host))),
                       "descriptors");
          return Decode(host);
        });
    ExpectOutcome(Fault(38), what + ", then enough", Code::kOk, status);
  }

  const ChaosInstallation installation_;
  std::string clip_;
  std::vector<std::string> expected_;
};

// Row 38.
TEST_F(FaultyEnvironment, AnApplicationShortOfDescriptorsGetsErrorsAndNoLeak) {
  ExpectCleanAtEachCount("EMFILE in the application",
                         [](Host&) { return getpid(); });
}

// Row 38.
TEST_F(FaultyEnvironment, ABulkheaddShortOfDescriptorsGivesErrorsAndNoLeak) {
  ExpectCleanAtEachCount("EMFILE in bulkheadd",
                         [](Host& host) { return host.supervisor_pid(); });
}

// Row 38.
TEST_F(FaultyEnvironment, ABackendThatNeedsMoreThanThereIsSaysSo) {
  for (rlim_t left = 0; left < 32; ++left) {
    const Status status =
        ActOnHost(installation_.options(), kLimit, [&](Host& host) -> Status {
          {
            const pid_t pid = host.supervisor_pid();
            const LoweredLimit limit(pid, RLIMIT_NOFILE,
                                     OpenDescriptors(pid) + left);
            (void)Decode(host);
          }
          // bulkheadd repeats a failed start after a back-off.
          const auto end = std::chrono::steady_clock::now() + kLimit / 3;
          Status again = Decode(host);
          while (!again.ok() && std::chrono::steady_clock::now() < end) {
            again = Decode(host);
          }
          return again;
        });
    ExpectOutcome(
        Fault(38),
        "EMFILE while a backend starts, then enough, " + std::to_string(left),
        Code::kOk, status);
  }
}

// Row 39.
TEST_F(FaultyEnvironment, ProgramsThatAreMissingOrAreNoneAreNamed) {
  for (const char* program :
       {"bulkheadd", "bulkhead-reaper", "bulkhead-worker"}) {
    for (const char* content : {"", "no program\n"}) {
      const std::string path = CopyOfLibexec();
      const std::string file = path + "/" + program;
      fs::remove(file);
      if (*content != '\0') {
        std::ofstream(file) << content;
        fs::permissions(file, fs::perms(0755));
      }
      HostOptions options = installation_.options();
      options.libexec_dir = path;
      const Status status =
          ActOnHost(options, kLimit, [&](Host& host) { return Decode(host); });
      const Code expected = *content == '\0' ? Code::kNotFound
                            : program == std::string("bulkhead-reaper")
                                ? Code::kSandboxUnavailable
                                : Code::kBackendUnavailable;
      ExpectOutcome(
          Fault(39),
          std::string(program) + (*content ? " is no program" : " is missing"),
          expected, status);
      std::printf("  %-16s %-8s %s\n", program, *content ? "no ELF" : "none",
                  status.ToString().substr(0, 200).c_str());
      fs::remove_all(path);
    }
  }
}

TEST_F(FaultyEnvironment, ABulkheaddThatSaysNothingIsEnded) {
  const std::string path = CopyOfLibexec();
  const std::string program = path + "/bulkheadd";
  fs::remove(program);
  std::ofstream(program) << "#!/bin/sh\necho $$ > " << path
                         << "/pid\nexec sleep 1000\n";
  fs::permissions(program, fs::perms(0755));
  HostOptions options = installation_.options();
  options.libexec_dir = path;
  options.deadlines.supervisor_start = kShort;
  const auto host = Host::Create(options);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().code(), Code::kDeadlineExceeded) << host.error();
  EXPECT_NE(host.error().message().find("was ended"), std::string::npos)
      << host.error();
  pid_t pid = 0;
  ASSERT_TRUE(std::ifstream(path + "/pid") >> pid);
  EXPECT_TRUE(ProcessWatch(pid).AwaitEnd(kLimit));
  fs::remove_all(path);
}

// Row 52.
TEST_F(FaultyEnvironment, SignalsWithoutEndDisturbNothing) {
  static std::atomic<int> signals = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { ++signals; };  // no SA_RESTART
  struct sigaction before = {};
  sigaction(SIGALRM, &action, &before);
  const itimerval often = {.it_interval = {0, 300}, .it_value = {0, 300}};
  setitimer(ITIMER_REAL, &often, nullptr);
  const Status status =
      ActOnHost(installation_.options(), kLimit, [&](Host& host) -> Status {
        for (int i = 0; i < 5; ++i) {
          if (Status status = Decode(host); !status.ok()) return status;
        }
        return Status();
      });
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  ExpectOutcome(Fault(52), "a signal each 300 us", Code::kOk, status);
  EXPECT_GT(signals, 100);
}

// Row 53.
TEST_F(FaultyEnvironment, AnApplicationOfLittleAddressSpaceGetsAnError) {
  const Status status =
      ActOnHost(installation_.options(), kLimit, [&](Host& host) -> Status {
        Status status = Decode(host);
        if (!status.ok()) return status;
        std::ifstream statm("/proc/self/statm");
        rlim_t pages = 0;
        statm >> pages;
        const rlim_t now = pages * static_cast<rlim_t>(getpagesize());
        int failed = 0;
        for (rlim_t more = 16; more < 8192; more *= 2) {
          const LoweredLimit limit(0, RLIMIT_AS, now + (more << 10));
          const Status tight = Decode(host);
          if (tight.ok()) break;
          ExpectOutcome(Fault(53), "little address space",
                        Code::kResourceExhausted, tight);
          ++failed;
        }
        EXPECT_GT(failed, 0);
        return Decode(host);
      });
  EXPECT_TRUE(status.ok()) << status;
}

// Row 53. Each case runs in a mount namespace of its own.
TEST_F(FaultyEnvironment,
       WithoutProcItSaysWhyAndWithoutShmOrAWritableRootDecodes) {
  if (RunProgram({"unshare", "-m", "true"}).exit_code != 0) {
    GTEST_SKIP() << "this user cannot make a mount namespace";
  }
  struct Lack {
    const char* made_by;
    int exit_code;
  };
  const ProgramOptions options{
      .environment = {{"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()}}};
  const auto whole = RunProgram({PathFromEnvironment("BULKHEAD_TEST_CLI"),
                                 "decode", clip_, "--format", "framemd5"},
                                options);
  ASSERT_EQ(whole.exit_code, 0) << whole.Describe();
  // Without /proc, nobody can set the id maps of a namespace, so the tier is
  // lower.
  for (const auto& [made_by, exit_code] :
       {Lack{"umount -l /proc", 5},
        // A /dev of its own, since several mounts may lie on /dev/shm.
        Lack{"mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && "
             "mknod -m 444 /dev/urandom c 1 9",
             0},
        Lack{"mount -o bind,remount,ro /", 0}}) {
    const std::string script =
        std::string(made_by) +
        " && exec \"$0\" decode \"$1\" --format framemd5";
    const auto result =
        RunProgram({"unshare", "-m", "sh", "-c", script,
                    PathFromEnvironment("BULKHEAD_TEST_CLI"), clip_},
                   options);
    EXPECT_FALSE(result.timed_out) << made_by;
    ExpectOutcome(Fault(53), made_by, "exit code " + std::to_string(exit_code),
                  "exit code " + std::to_string(result.exit_code));
    if (exit_code != 0) continue;
    EXPECT_EQ(result.output, whole.output) << made_by;
  }
}

// Row 54.
TEST_F(FaultyEnvironment, WhatTheApplicationChangesAboutItselfLaterIsItsOwn) {
  const fs::path directory = fs::current_path();
  const Status status =
      ActOnHost(installation_.options(), kLimit, [&](Host& host) -> Status {
        const std::string relative = fs::path(clip_).filename();
        fs::current_path(fs::path(clip_).parent_path());
        Status status = Decode(host, relative);
        EXPECT_TRUE(status.ok()) << status;
        fs::current_path("/");
        const mode_t mask = umask(0777);
        status = Decode(host);
        ExpectOutcome(Fault(54), "cwd and umask", Code::kOk, status);
        // Makes the changed process start another bulkheadd.
        const ProcessWatch supervisor(host.supervisor_pid());
        EXPECT_TRUE(supervisor.Signal(SIGKILL));
        EXPECT_TRUE(supervisor.AwaitEnd(kLimit));
        status = Decode(host);
        ExpectOutcome(Fault(54), "the same, bulkheadd replaced", Code::kOk,
                      status);
        umask(mask);
        const LoweredLimit core(0, RLIMIT_CORE, 0);
        const LoweredLimit stack(0, RLIMIT_STACK, 256 << 10);
        return Decode(host);
      });
  fs::current_path(directory);
  ExpectOutcome(Fault(54), "limits", Code::kOk, status);
}

// Row 54. Changes that a process cannot take back, so a child makes them.
TEST_F(FaultyEnvironment, WhatTheApplicationGivesUpLaterChangesNoSession) {
  struct Change {
    const char* name;
    std::function<bool()> make;
  };
  for (const Change& change :
       {Change{"another uid", [] { return setresuid(1, 1, 1) == 0; }},
        Change{"a seccomp filter", RefuseNamespaces}}) {
    if (geteuid() != 0) GTEST_SKIP() << "only root may change its uid";
    char clip[] = "/tmp/clip-XXXXXX";
    const ipc::UniqueFd file(mkstemp(clip));
    ASSERT_TRUE(file);
    fs::copy_file(clip_, clip, fs::copy_options::overwrite_existing);
    fs::permissions(clip, fs::perms(0644));
    ipc::ForkedChild application([&] {
      const auto host = Host::Create(installation_.options()).value();
      if (!Decode(*host, clip).ok() || !change.make()) return -1;
      const Status status = Decode(*host, clip);
      if (!status.ok()) std::cerr << status << std::endl;
      return HasFailure() ? -1 : static_cast<int>(status.ok());
    });
    ExpectOutcome(Fault(54), change.name, "decodes",
                  WEXITSTATUS(application.Wait()) == 1 ? "decodes" : "fails");
    fs::remove(clip);
  }
}

// Row 55, through Bulkhead's own limit.
TEST_F(FaultyEnvironment, MemoryForLessThanAFrameIsAnError) {
  HostOptions options = installation_.options();
  options.limits.session_bytes = 64 << 10;
  const Status status =
      ActOnHost(options, kLimit, [&](Host& host) { return Decode(host); });
  ExpectOutcome(Fault(55), "limit of the session", Code::kResourceExhausted,
                status);
}

}  // namespace
}  // namespace bulkhead::tests
