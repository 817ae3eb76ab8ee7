// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/escape/table/attempt.h"
#include "tests/support/descriptor_flood.h"

namespace bulkhead::tests {
namespace {

// Above every limit of a worker.
constexpr int kMost = 1 << 20;
constexpr size_t kPiece = size_t{256} << 20;

// Starts threads until the kernel refuses. The stacks have the usual size, so
// that the address space is exhausted even where tasks are not limited.
std::string Threads(const Targets&) {
  for (int i = 0; i < kMost; ++i) {
    pthread_t thread;
    errno = pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (;;) syscall(SYS_ppoll, 0, 0, 0, 0, 0);
        },
        nullptr);
    if (errno != 0) return Answer(-1);
  }
  return "allowed";
}

std::string AddressSpace(const Targets&) {
  for (int i = 0; i < kMost; ++i) {
    if (mmap(nullptr, kPiece, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0) == MAP_FAILED) {
      return Answer(-1);
    }
  }
  return "allowed";
}

std::string TouchMemory(const Targets&) {
  constexpr size_t kBytes = size_t{64} << 20;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Answer(-1);
  std::memset(memory, 1, kBytes);
  munmap(memory, kBytes);
  return "allowed";
}

std::string Map(int flags) {
  return mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED
             ? Answer(-1)
             : "allowed";
}

std::string LockMemory(const Targets&) {
  static char page[4096];
  return Answer(mlock(page, sizeof page));
}

std::string Descriptors(const Targets&) {
  for (int i = 0; i < kMost; ++i) {
    if (dup(0) < 0) return Answer(-1);
  }
  return "allowed";
}

std::string DescriptorsInFlight(const Targets&) {
  return FloodSocketWithDescriptors() ? Answer(-1) : "allowed";
}

// Fills the buffer of each socket that it has.
std::string SocketBuffers(const Targets&) {
  static const char packet[4096] = {};
  std::string answer = "no socket";
  for (int fd = 0; fd < 64; ++fd) {
    struct stat status;
    if (syscall(SYS_fstat, fd, &status) != 0 || !S_ISSOCK(status.st_mode)) {
      continue;
    }
    int sent = 0;
    while (sent < kMost && send(fd, packet, sizeof packet, MSG_DONTWAIT) >= 0) {
      ++sent;
    }
    answer = sent < kMost ? Answer(-1) : "allowed";
  }
  return answer;
}

std::string LimitIs(__rlimit_resource resource, rlim_t most) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0) return Answer(-1);
  return Check(limit.rlim_cur <= most && limit.rlim_max <= most,
               std::to_string(limit.rlim_max));
}

// Writes to the log without a line break, including control characters.
std::string FloodLog(const Targets&) {
  char chunk[4096];
  std::memset(chunk, '\x1b', sizeof chunk);
  for (int i = 0; i < kMost; ++i) {
    if (write(STDERR_FILENO, chunk, sizeof chunk) < 0) return Answer(-1);
  }
  return "allowed";
}

[[noreturn]] std::string Spin(const Targets&) {
  signal(SIGTERM, SIG_IGN);
  for (;;) getpid();
}

}  // namespace

std::vector<Attempt> ResourceAttempts() {
  constexpr const char* kSessionOnly =
      "n/a: it would end the start of the backend; bound there by a deadline";
  constexpr const char* kOneProcess =
      "n/a: the same limit as in a session, where it is tried";
  constexpr Expected kEperm = Everywhere("E:EPERM");
  return {
      {49, "thread_bomb", {kOneProcess, "L:EAGAIN"}, Threads},
      {50, "address_space", {kOneProcess, "L:ENOMEM"}, AddressSpace},
      {50, "touch_memory",
       Everywhere("allowed: without a cgroup up to the limit of a process"),
       TouchMemory},
      {50, "lock_memory", kEperm, LockMemory},
      {50, "memory_that_sessions_share", kEperm,
       [](const Targets&) { return Map(MAP_SHARED | MAP_ANONYMOUS); }},
      {50, "memory_that_grows_down", kEperm,
       [](const Targets&) {
         return Map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN);
       }},
      {50, "huge_pages", kEperm,
       [](const Targets&) {
         return Map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
       }},
      {50,
       "socket_buffers",
       {"n/a: bulkheadd reads what a zygote sends (tests/liars, ready_storm)",
        "L:EAGAIN"},
       SocketBuffers},
      Call(50, "mlockall", SYS_mlockall),
      Call(50, "pipe", SYS_pipe),
      Call(50, "pipe2", SYS_pipe2, kEperm),
      {50, "memory_lock_limit", Everywhere("ok"),
       [](const Targets&) { return LimitIs(RLIMIT_MEMLOCK, 64 * 1024); }},
      {50, "message_queue_limit", Everywhere("ok"),
       [](const Targets&) { return LimitIs(RLIMIT_MSGQUEUE, 0); }},
      {51, "nice_limit", Everywhere("ok"),
       [](const Targets&) { return LimitIs(RLIMIT_NICE, 0); }},
      {51, "realtime_limit", Everywhere("ok"),
       [](const Targets&) { return LimitIs(RLIMIT_RTPRIO, 0); }},
      {51, "spin", {kSessionOnly, "C:deadline"}, Spin},
      Call(52, "ftruncate", SYS_ftruncate),
      Call(52, "fallocate", SYS_fallocate),
      {52, "file_size_limit", Everywhere("ok"),
       [](const Targets&) { return LimitIs(RLIMIT_FSIZE, 0); }},
      // Checks that neither limit is the reaper's, which is higher.
      {53, "descriptor_limit", Everywhere("ok"),
       [](const Targets&) { return LimitIs(RLIMIT_NOFILE, 256); }},
      {53, "dup_bomb", {kOneProcess, "E:EPERM"}, Descriptors},
      {53, "descriptors_in_flight", kEperm, DescriptorsInFlight},
      Call(54, "timer_create", SYS_timer_create),
      Call(54, "timerfd_create", SYS_timerfd_create),
      Call(54, "setitimer", SYS_setitimer),
      Call(54, "signalfd4", SYS_signalfd4),
      Call(54, "eventfd2", SYS_eventfd2, kEperm),
      Call(54, "epoll_create1", SYS_epoll_create1, kEperm),
      {55, "log_flood", Everywhere("L:EAGAIN"), FloodLog},
      {56, "core_size_limit", Everywhere("ok"),
       [](const Targets&) { return LimitIs(RLIMIT_CORE, 1); }},
      {56, "abort", Everywhere("C:signal 6"),
       [](const Targets&) -> std::string { abort(); }},
      {56, "crash", Everywhere("C:signal 11"),
       [](const Targets&) -> std::string {
         void* page =
             mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         std::memset(page, 1, 1);
         return "allowed";
       }},
      Call(57, "setsid", SYS_setsid),
      Call(57, "setpgid", SYS_setpgid),
      {58, "stop_by_kill", kEperm,
       [](const Targets&) { return Answer(kill(getpid(), SIGSTOP)); }},
      {58, "stop_by_tgkill", kEperm,
       [](const Targets&) {
         return Answer(syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP));
       }},
      {58,
       "exit_silently",
       {kSessionOnly, "C:exit 0"},
       [](const Targets&) -> std::string { _exit(0); }},
  };
}

}  // namespace bulkhead::tests
