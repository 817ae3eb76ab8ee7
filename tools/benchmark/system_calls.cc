// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/system_calls.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "ipc/unique_fd.h"
#include "tools/benchmark/ring/shared_memory.h"

namespace bulkhead::benchmark {
namespace {

constexpr size_t kMostProcesses = 4;
constexpr size_t kMostCalls = 1024;

// The counts, in memory that the tracer and this process share. A count is
// valid only in the phase whose number it has. So BeginPhase() resets all
// counts by raising one number, and a call that the tracer is just adding stays
// in the old phase.
struct Counts {
  std::atomic<uint32_t> phase;
  struct Count {
    std::atomic<uint32_t> phase;
    std::atomic<uint32_t> calls;
  };
  Count of[kMostProcesses][kMostCalls];
};

std::vector<pid_t> ThreadsOf(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(
           fmt::format("/proc/{}/task", process), error)) {
    const std::string name = entry.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    threads.push_back(thread);
  }
  return threads;
}

// The main loop of the tracer process.
class Loop {
 public:
  Loop(const std::vector<pid_t>& processes, Counts& counts)
      : counts_(counts), processes_(processes) {}

  // Attaches to every thread. Returns an errno value, or 0.
  int Attach() {
    for (size_t i = 0; i < processes_.size(); ++i) {
      for (const pid_t thread : ThreadsOf(processes_[i])) {
        if (ptrace(PTRACE_SEIZE, thread, nullptr, PTRACE_O_TRACESYSGOOD) != 0 ||
            ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0) {
          return errno;
        }
        place_of_[thread] = i;
        // The thread's first stop comes from the interrupt.
        waitpid(thread, nullptr, __WALL);
        ptrace(PTRACE_SYSCALL, thread, nullptr, nullptr);
      }
    }
    return place_of_.empty() ? ESRCH : 0;
  }

  [[noreturn]] void Run() {
    for (;;) {
      int status = 0;
      const pid_t thread = waitpid(-1, &status, __WALL);
      if (thread < 0 && errno != EINTR) _exit(0);
      if (thread <= 0 || !WIFSTOPPED(status)) continue;
      // PTRACE_O_TRACESYSGOOD marks the stops at system calls with 0x80.
      const int signal = WSTOPSIG(status);
      if (signal == (SIGTRAP | 0x80)) {
        Count(thread);
        ptrace(PTRACE_SYSCALL, thread, nullptr, nullptr);
      } else {
        // A stop that ptrace itself causes has no signal to pass on.
        const bool own = status >> 16 != 0 || signal == SIGTRAP;
        ptrace(PTRACE_SYSCALL, thread, nullptr,
               static_cast<uintptr_t>(own ? 0 : signal));
      }
    }
  }

 private:
  void Count(pid_t thread) {
    __ptrace_syscall_info info = {};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY || info.entry.nr >= kMostCalls) {
      return;
    }
    // The first call in a phase finds the number of an earlier phase, and makes
    // the count start at 0.
    Counts::Count& count = counts_.of[place_of_[thread]][info.entry.nr];
    const uint32_t phase = counts_.phase.load();
    if (count.phase.exchange(phase) != phase) count.calls.store(0);
    count.calls.fetch_add(1);
  }

  Counts& counts_;
  const std::vector<pid_t>& processes_;
  // The index of each thread's process in `processes_`.
  std::map<pid_t, size_t> place_of_;
};

}  // namespace

struct SystemCallTrace::Tracer {
  ~Tracer() {
    if (pid <= 0) return;
    kill(pid, SIGKILL);
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  std::vector<pid_t> processes;
  SharedMemory memory{sizeof(Counts)};
  pid_t pid = -1;
};

Result<std::unique_ptr<SystemCallTrace>> SystemCallTrace::Start(
    std::vector<pid_t> processes) {
  auto tracer = std::make_unique<Tracer>();
  tracer->processes = std::move(processes);
  if (tracer->processes.size() > kMostProcesses) {
    return Status(Code::kInvalidArgument, "too many processes to trace");
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return Status(Code::kInternal, "cannot make a pipe");
  }
  const ipc::UniqueFd from(ends[0]);
  ipc::UniqueFd to(ends[1]);
  // By default, the security module Yama lets no child trace its parent.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  tracer->pid = fork();
  if (tracer->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Loop loop(tracer->processes, tracer->memory.as<Counts>());
    const int error = loop.Attach();
    [[maybe_unused]] const ssize_t put = write(to.get(), &error, sizeof(error));
    if (error != 0) _exit(1);
    loop.Run();
  }
  to.reset();
  int error = ECHILD;
  if (read(from.get(), &error, sizeof(error)) != sizeof(error) || error != 0) {
    return Status(Code::kUnsupported,
                  fmt::format("cannot trace its processes: {}; run it as root",
                              std::generic_category().message(error)));
  }
  return std::unique_ptr<SystemCallTrace>(
      new SystemCallTrace(std::move(tracer)));
}

SystemCallTrace::SystemCallTrace(std::unique_ptr<Tracer> tracer)
    : tracer_(std::move(tracer)) {}
SystemCallTrace::~SystemCallTrace() = default;

void SystemCallTrace::BeginPhase() {
  tracer_->memory.as<Counts>().phase.fetch_add(1);
}

std::map<uint32_t, uint64_t> SystemCallTrace::Calls(pid_t process) const {
  const Counts& counts = tracer_->memory.as<Counts>();
  std::map<uint32_t, uint64_t> calls;
  for (size_t i = 0; i < tracer_->processes.size(); ++i) {
    if (tracer_->processes[i] != process) continue;
    for (uint32_t call = 0; call < kMostCalls; ++call) {
      const Counts::Count& count = counts.of[i][call];
      if (count.phase.load() == counts.phase.load() && count.calls.load() > 0) {
        calls[call] = count.calls.load();
      }
    }
  }
  return calls;
}

}  // namespace bulkhead::benchmark
