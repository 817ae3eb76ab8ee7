// SPDX-License-Identifier: Apache-2.0
//
// The backend `cpu` with vendor code that sends another user one bit of what
// it decodes: whether the first byte of the first packet is large. If it
// is, the code changes all that the kernel shows of a process and that it may
// try to change without being killed for it. What does not succeed is no
// matter. Otherwise it does nothing of that.
//
// Its accomplice is a thread in the zygote, which may open files. It counts the
// threads of all processes of the backend, and opens a file when there are
// many.

#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/securebits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "tests/escape/onlooker/signal_file.h"
#include "tests/support/honest_backend.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kSetBytes = sizeof(uint64_t);
const uint64_t every_signal = ~uint64_t{0};
const uint64_t no_signal = 0;

void ChangeAttributes() {
  prctl(PR_SET_NAME, "a secret", 0, 0, 0);
  prctl(PR_SET_TIMERSLACK, 12345, 0, 0, 0);
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
  prctl(PR_SET_SECUREBITS, SECBIT_KEEP_CAPS, 0, 0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  prctl(PR_SET_PDEATHSIG, SIGUSR1, 0, 0, 0);
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
  prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0);
  prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, PR_SPEC_DISABLE, 0, 0);
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  prctl(PR_SET_MM, PR_SET_MM_ARG_START, every_signal, 0, 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof(one), &one);
  const sched_param idle = {.sched_priority = 0};
  syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &idle);
  setpriority(PRIO_PROCESS, 0, 10);
  syscall(SYS_ioprio_set, 1, 0, 3 << 13);
  const rlimit less = {.rlim_cur = 64, .rlim_max = 64};
  for (const auto limit : {RLIMIT_NOFILE, RLIMIT_STACK, RLIMIT_MEMLOCK}) {
    prlimit(0, limit, &less, nullptr);
  }
}

void ChangeMemory() {
  constexpr size_t kBytes = size_t{1} << 16;
  alignas(4096) static char memory[kBytes];
  mlock(memory, sizeof(memory));
  for (const int advice : {MADV_HUGEPAGE, MADV_DONTDUMP, MADV_DONTFORK,
                           MADV_MERGEABLE, MADV_WIPEONFORK}) {
    madvise(memory, sizeof(memory), advice);
  }
  unsigned long node = 1;
  syscall(SYS_set_mempolicy, 2, &node, 2);
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

void ChangeDescriptors() {
  for (int fd = 0; fd < 3; ++fd) {
    if (fd != STDERR_FILENO) [[maybe_unused]]
      const ssize_t written = write(fd, "x", 1);
    close(fd);
  }
  for (int fd = 0; fd < 64; ++fd) {
    fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
    fcntl(fd, F_SETOWN, getpid());
    struct stat file = {};
    // The place in the media that everybody reads by pread().
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) lseek(fd, 77, SEEK_SET);
  }
  for (const char* file : {"/proc/self/oom_score_adj", "/proc/self/comm",
                           "/proc/self/coredump_filter"}) {
    const int fd = open(file, O_WRONLY | O_CLOEXEC);
    [[maybe_unused]] const ssize_t written = write(fd, "7", 1);
    close(fd);
  }
}

// Blocks signals, and has one wait.
void ChangeSignals() {
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGUSR2, &ignored, nullptr);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &every_signal, nullptr, kSetBytes);
  uint64_t blocked = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, nullptr, &blocked, kSetBytes);
  if ((blocked & (uint64_t{1} << (SIGABRT - 1))) != 0) {
    syscall(SYS_tgkill, getpid(), gettid(), SIGABRT);
  }
}

// A thread that waits with these signals blocked. There is one in any case,
// since the number of threads is seen.
void* Wait(void* signals) {
  for (;;) {
    syscall(SYS_ppoll, nullptr, 0, nullptr, signals, kSetBytes);
    poll(nullptr, 0, -1);
  }
}

constexpr int kManyThreads = 64;
// The threads of a session that does not change anything.
constexpr int kFewThreads = 16;
// More than all processes of the backend get during the test.
constexpr pid_t kMostIds = 8192;

// Has many threads for as long as an accomplice needs to count them a few
// times: nothing shows a session whether it was seen.
void Crowd() {
  std::mutex all_seen;
  std::unique_lock held(all_seen);
  std::vector<std::thread> threads;
  for (int i = 0; i < kManyThreads; ++i) {
    threads.emplace_back([&] { const std::lock_guard wait(all_seen); });
  }
  usleep(50'000);
  held.unlock();
  for (std::thread& thread : threads) thread.join();
}

int CountThreads() {
  int threads = 0;
  for (pid_t id = 1; id <= kMostIds; ++id) {
    threads += syscall(SYS_sched_getscheduler, id) >= 0 ? 1 : 0;
  }
  return threads;
}

// Counts each millisecond, since nothing wakes it, and opens the file once for
// each crowd. Takes no lock, which a worker that is
// cloned at that moment would find taken for ever.
void* Watch(void*) {
  const int before = CountThreads();
  for (bool told = false;; usleep(1000)) {
    const bool crowded = CountThreads() > before + kFewThreads;
    if (crowded && !told) close(open(kSignalFile, O_RDONLY | O_CLOEXEC));
    told = crowded;
  }
}

void StartAccomplice() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, Watch, nullptr) == 0) {
    pthread_detach(thread);
  }
}

bool told = false;

bulkhead_result SendPacket(bulkhead_decoder* decoder,
                           const bulkhead_packet* packet) {
  if (!told && packet->bytes > 0) {
    told = true;
    const bool secret = packet->data[0] >= 128;
    pthread_t thread;
    pthread_create(&thread, nullptr, Wait,
                   const_cast<uint64_t*>(secret ? &every_signal : &no_signal));
    if (secret) {
      Crowd();
      ChangeAttributes();
      ChangeMemory();
      ChangeDescriptors();
      ChangeSignals();
    }
  }
  return Honest().send_packet(decoder, packet);
}

constexpr bulkhead_device kDevice = {
    .size = sizeof(kDevice), .name = "telltale", .description = "tells"};

}  // namespace
}  // namespace bulkhead::tests

extern "C" const bulkhead_backend* bulkhead_telltale_backend(void) {
  using namespace bulkhead::tests;
  static bulkhead_backend table = Honest();
  table.name = "telltale";
  table.enumerate_devices = EnumerateOne<kDevice>;
  table.send_packet = SendPacket;
  StartAccomplice();
  return &table;
}
