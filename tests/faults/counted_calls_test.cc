// SPDX-License-Identifier: Apache-2.0
//
// Refuses the first, the second, the third such system call on the way to a
// Host, a backend and a session, in whatever process makes it. The test traces
// all of these processes, counts the call in them and makes one of them fail.
// The result is a typed error in time, or frames; nothing is left over.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <ostream>
#include <string>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/refusals.h"
#include "tests/support/rows.h"

namespace bulkhead::tests {
namespace {

constexpr int kFrames = 30;
// Time for all attempts on a busy machine.
constexpr unsigned kLimitSeconds = 30;

struct Refusal {
  const char* name;
  long call;
  int error;
  // Every count up to this one is tried, then each half as large again.
  int every = 12;
};
constexpr Refusal kRefusals[] = {
    {"memfd_create_ENFILE", SYS_memfd_create, ENFILE},
    {"ftruncate_ENOSPC", SYS_ftruncate, ENOSPC},
    {"socketpair_ENFILE", SYS_socketpair, ENFILE},
    {"sendmsg_ENOBUFS", SYS_sendmsg, ENOBUFS},
    // Each message comes at a moment of its own.
    {"recvmsg_ENOMEM", SYS_recvmsg, ENOMEM, 100},
    {"pidfd_open_ENFILE", SYS_pidfd_open, ENFILE},
    {"clone_EAGAIN", SYS_clone, EAGAIN},
    {"unshare_ENOSPC", SYS_unshare, ENOSPC},
    {"execveat_ENOMEM", SYS_execveat, ENOMEM},
    {"mount_ENOSPC", SYS_mount, ENOSPC},
    {"openat_ENFILE", SYS_openat, ENFILE},
    {"mmap_ENOMEM", SYS_mmap, ENOMEM},
    {"prlimit_EPERM", SYS_prlimit64, EPERM},
};
void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.name;
}

Status Decode(const HostOptions& options, const std::string& clip) {
  const auto host = Host::Create(options);
  if (!host) return host.error();
  auto video = (*host)->OpenVideo(clip, ChaosInstallation::Stream());
  if (!video) return video.error();
  for (int frames = 0;; ++frames) {
    const auto frame = video->Next();
    if (!frame) return frame.error();
    if (!*frame) {
      return frames == kFrames ? Status() : Status(Code::kInternal, "frames");
    }
  }
}

// The traced child. Ends with the code of its Status, or 255 if it is OK.
[[noreturn]] void BeApplication(const HostOptions& options,
                                const std::string& clip, long call) {
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0 || !TraceCall(call)) _exit(254);
  raise(SIGSTOP);
  const Status status = Decode(options, clip);
  _exit(status.ok() ? 255 : static_cast<int>(status.code()));
}

struct Trace {
  int made = 0;          // how many such calls there were
  int wait_status = -1;  // of the application; -1 if it did not end in time
  bool all_ended = false;
};

void MakeFail(pid_t pid, int error) {
  user_regs_struct registers;
  ptrace(PTRACE_GETREGS, pid, 0, &registers);
  registers.orig_rax = ~0ULL;  // no call
  registers.rax = static_cast<unsigned long long>(-error);
  ptrace(PTRACE_SETREGS, pid, 0, &registers);
}

// Runs the application and makes the call number `count` fail.
Trace RunTraced(const HostOptions& options, const std::string& clip,
                const Refusal& refusal, int count) {
  Trace run;
  const pid_t application = fork();
  if (application == 0) BeApplication(options, clip, refusal.call);
  bool begun = false;
  alarm(kLimitSeconds);
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0) {
      run.all_ended = errno == ECHILD;
      break;
    }
    if (!WIFSTOPPED(status)) {
      if (pid == application) run.wait_status = status;
      continue;
    }
    if (!begun) {
      begun = true;
      ptrace(PTRACE_SETOPTIONS, pid, 0,
             PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
                 PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                 PTRACE_O_TRACEEXEC);
      ptrace(PTRACE_CONT, pid, 0, 0);
      continue;
    }
    const int event = status >> 16;
    if (event == PTRACE_EVENT_SECCOMP && ++run.made == count) {
      MakeFail(pid, refusal.error);
    }
    const int signal = WSTOPSIG(status);
    // A process that has just been made stops by itself.
    const bool own = event != 0 || signal == SIGSTOP || signal == SIGTRAP;
    ptrace(PTRACE_CONT, pid, 0, own ? 0 : signal);
  }
  alarm(0);
  if (!run.all_ended) kill(application, SIGKILL);
  return run;
}

class CountedCall : public testing::TestWithParam<Refusal> {
 protected:
  static void SetUpTestSuite() {
    struct sigaction interrupt = {};
    interrupt.sa_handler = [](int) {};
    sigaction(SIGALRM, &interrupt, nullptr);
  }
};

TEST_P(CountedCall, IsATypedErrorInTimeAndLeavesNothing) {
  const std::string clip = ClipOrSkip(Clip::kOddSize);
  if (clip.empty()) return;
  const ChaosInstallation installation;
  std::map<std::string, int> outcomes;
  std::string wrong;
  for (int count = 1, tried = 0;; ++tried) {
    const Trace run =
        RunTraced(installation.options(), clip, GetParam(), count);
    const int code = WEXITSTATUS(run.wait_status);
    if (!run.all_ended) {
      wrong = "left or late";
    } else if (!WIFEXITED(run.wait_status) || code == 254 ||
               code == static_cast<int>(Code::kInternal)) {
      wrong = "not typed";
    }
    if (!wrong.empty()) {
      wrong += " at call " + std::to_string(count);
      break;
    }
    if (run.made < count) {
      EXPECT_GT(tried, 0) << "nobody makes this call";
      EXPECT_EQ(code, 255) << CodeName(static_cast<Code>(code));
      break;
    }
    ++outcomes[code == 255 ? "decoded" : CodeName(static_cast<Code>(code))];
    count += std::max(1, count >= GetParam().every ? count / 2 : 0);
  }
  for (const auto& [name, times] : outcomes) {
    std::printf("  %2d times %s\n", times, name.c_str());
  }
  ExpectOutcome(Fault(38), std::string(GetParam().name) + ", call by call",
                "typed or decoded, nothing left",
                wrong.empty() ? "typed or decoded, nothing left" : wrong);
}

INSTANTIATE_TEST_SUITE_P(Each, CountedCall, testing::ValuesIn(kRefusals),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace bulkhead::tests
