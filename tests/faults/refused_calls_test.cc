// SPDX-License-Identifier: Apache-2.0
//
// Refuses each system call that is needed for starting a Host, a backend and a
// session, with the errors of a machine that has run out of a resource. A
// seccomp filter injects the error into the application and all processes below
// it. The result is a typed error in time, or frames if the call is not
// essential. Nothing is left over.

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/own_world.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kAsApplication = "--as-application";
constexpr milliseconds kLimit{30'000};

struct Refusal {
  const char* name;
  long call;
  int error;
};
constexpr Refusal kRefusals[] = {
    {"memfd_create_ENFILE", SYS_memfd_create, ENFILE},
    {"memfd_create_ENOMEM", SYS_memfd_create, ENOMEM},
    {"ftruncate_ENOSPC", SYS_ftruncate, ENOSPC},
    {"socketpair_ENFILE", SYS_socketpair, ENFILE},
    {"socketpair_ENOMEM", SYS_socketpair, ENOMEM},
    {"sendmsg_ENOBUFS", SYS_sendmsg, ENOBUFS},
    {"recvmsg_ENOMEM", SYS_recvmsg, ENOMEM},
    {"eventfd_ENFILE", SYS_eventfd2, ENFILE},
    {"epoll_create_ENFILE", SYS_epoll_create1, ENFILE},
    {"epoll_ctl_ENOSPC", SYS_epoll_ctl, ENOSPC},
    {"inotify_EMFILE", SYS_inotify_init1, EMFILE},
    {"pidfd_open_ENFILE", SYS_pidfd_open, ENFILE},
    {"clone_EAGAIN", SYS_clone, EAGAIN},
    {"clone_ENOMEM", SYS_clone, ENOMEM},
    {"clone_ENOSPC", SYS_clone, ENOSPC},
    {"clone3_EAGAIN", SYS_clone3, EAGAIN},
    {"unshare_ENOSPC", SYS_unshare, ENOSPC},
    {"execve_EAGAIN", SYS_execve, EAGAIN},
    {"execveat_ENOMEM", SYS_execveat, ENOMEM},
    {"mount_ENOSPC", SYS_mount, ENOSPC},
    {"pivot_root_EPERM", SYS_pivot_root, EPERM},
    {"mkdir_ENOSPC", SYS_mkdir, ENOSPC},
    {"openat_ENFILE", SYS_openat, ENFILE},
    {"setresuid_EAGAIN", SYS_setresuid, EAGAIN},
    {"prlimit_EPERM", SYS_prlimit64, EPERM},
};

// Decodes `clip` while the system call fails, and returns the result as an exit
// code.
int BeApplication(const std::string& clip, long call, int error) {
  const ChaosInstallation installation;
  HostOptions options = installation.options();
  if (!RefuseCall(call, error)) return 1;
  const auto decode = [&]() -> Status {
    auto host = Host::Create(options);
    if (!host) return host.error();
    if (call == SYS_pivot_root &&
        (*host)->Sandbox().value().tier == SandboxTier::kFull) {
      return Status(Code::kInternal, "tier full in the root of the machine");
    }
    auto video = (*host)->OpenVideo(clip, installation.Stream());
    if (!video) return video.error();
    for (int frames = 0;; ++frames) {
      const auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return frames == 30 ? Status() : Status(Code::kInternal, "");
    }
  };
  const Status status = decode();
  std::printf("%s\n", status.ToString().c_str());
  std::fflush(stdout);
  return status.code() == Code::kInternal ? 1 : 0;
}

class RefusedCall : public testing::TestWithParam<Refusal> {
 protected:
  static void SetUpTestSuite() {
    // Processes that outlive the application become children of this process,
    // which finds them.
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }
};

TEST_P(RefusedCall, IsATypedErrorInTimeAndLeavesNothing) {
  const std::string clip = ClipOrSkip(Clip::kOddSize);
  if (clip.empty()) return;
  ProgramOptions options;
  options.limit = kLimit;
  const ProgramResult result = RunProgram(
      {"/proc/self/exe", kAsApplication, clip, std::to_string(GetParam().call),
       std::to_string(GetParam().error)},
      options);
  ASSERT_TRUE(result.started);
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  ExpectOutcome(
      Fault(38), GetParam().name, "typed",
      result.exit_code == 0 && !result.timed_out ? "typed" : "not typed");
  // A line of its own, also where it is cut off.
  std::printf(
      "  %s\n",
      result.output.substr(0, result.output.find('\n')).substr(0, 200).c_str());
  const auto end = Clock::now() + kLimit;
  while (!DescendantsOf(getpid()).empty() && Clock::now() < end) {
    waitpid(-1, nullptr, WNOHANG);
  }
  EXPECT_TRUE(DescendantsOf(getpid()).empty());
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedCall, testing::ValuesIn(kRefusals),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace bulkhead::tests

int main(int argc, char** argv) {
  using bulkhead::tests::kAsApplication;
  if (argc == 5 && std::strcmp(argv[1], kAsApplication) == 0) {
    return bulkhead::tests::BeApplication(argv[2], std::stol(argv[3]),
                                          std::stoi(argv[4]));
  }
  bulkhead::tests::EnterOwnWorld();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
