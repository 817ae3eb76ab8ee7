// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/harm.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/chaos/hold.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kLargestPiece = size_t{1} << 30;
constexpr size_t kPage = 4096;
constexpr size_t kThreadsOfADecoder = 8;

void TakeMemory() {
  for (size_t bytes = kLargestPiece; bytes >= kPage;) {
    void* piece = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (piece == MAP_FAILED) bytes /= 2;
  }
}

// RLIMIT_DATA does not count what is read-only.
void HideMemory(size_t most) {
  size_t taken = 0;
  for (size_t bytes = size_t{16} << 20; bytes >= kPage && taken < most;) {
    void* piece = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) {
      bytes /= 2;
      continue;
    }
    std::memset(piece, 1, bytes);
    mprotect(piece, bytes, PROT_READ);
    taken += bytes;
  }
}

void Leak(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) std::memset(memory, 1, bytes);
}

// bound: a fault, as long as the script says.
void Slow(int64_t milliseconds) {
  timespec left = {.tv_sec = milliseconds / 1000,
                   .tv_nsec = milliseconds % 1000 * 1'000'000};
  while (nanosleep(&left, &left) != 0) {
  }
}

void* Rest(void*) {
  for (;;) syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
}

std::atomic<bool> crowded = false;

// Spins once all are there, since spinning threads would keep further ones from
// being started.
void* Spin(void*) {
  while (!crowded) Slow(20);
  for (;;) getppid();
}

// Starts threads whose stacks are small, so that the address space is not the
// limit, until there are `most` or the kernel refuses.
void StartThreads(int64_t most, void* (*run)(void*)) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  pthread_t thread;
  while (most-- > 0 && pthread_create(&thread, &small, run, nullptr) == 0) {
  }
}

// What the zygote reserved, its clones have too.
std::atomic<void*> reserved = nullptr;

void Reserve(size_t bytes) {
  void* piece = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (piece != MAP_FAILED) reserved = piece;
}

}  // namespace

bool GetsThreads() {
  std::mutex all_there;
  std::unique_lock held(all_there);
  std::vector<pthread_t> threads;
  const auto wait = [](void* mutex) -> void* {
    const std::lock_guard until_all_are_there(*static_cast<std::mutex*>(mutex));
    return nullptr;
  };
  pthread_t thread;
  while (threads.size() < kThreadsOfADecoder &&
         pthread_create(&thread, nullptr, wait, &all_there) == 0) {
    threads.push_back(thread);
  }
  held.unlock();
  for (const pthread_t one : threads) pthread_join(one, nullptr);
  return threads.size() == kThreadsOfADecoder;
}

void Harm(const Fault& fault) {
  switch (fault.deed) {
    case Deed::kSegfault: {
      static int* volatile nowhere = nullptr;
      *nowhere = 1;
      return;
    }
    case Deed::kAbort:
      std::abort();
    case Deed::kTerminate:
      syscall(SYS_tgkill, getpid(), gettid(), SIGTERM);
      return;
    case Deed::kExit:
      _exit(static_cast<int>(fault.argument));
    case Deed::kHang:
      Hold();
    case Deed::kSpin:
      for (;;) getppid();
    case Deed::kStop:
      kill(getpid(), SIGSTOP);
      syscall(SYS_tgkill, getpid(), gettid(), SIGSTOP);
      Hold();
    case Deed::kSlow:
      return Slow(fault.argument);
    case Deed::kThrow:
      throw std::runtime_error("a vendor's exception");
    case Deed::kTakeMemory:
      return TakeMemory();
    case Deed::kHoard:
      for (;;) {
        StartThreads(INT64_MAX, Rest);
        Slow(1);
      }
    case Deed::kNeedOrAbort:
      if (!GetsThreads()) std::abort();
      return;
    case Deed::kCrowd:
      StartThreads(fault.argument, Spin);
      crowded = true;
      return;
    case Deed::kHideMemory:
      return HideMemory(static_cast<size_t>(fault.argument));
    case Deed::kTakeDescriptors:
      while (dup(STDERR_FILENO) >= 0) {
      }
      return;
    case Deed::kReserve:
      return Reserve(static_cast<size_t>(fault.argument));
    case Deed::kReserveLater:
      std::thread([bytes = static_cast<size_t>(fault.argument)] {
        Slow(1'000);
        Reserve(bytes);
      }).detach();
      return;
    case Deed::kFill:
      std::memset(reserved, 1, static_cast<size_t>(fault.argument));
      return;
    case Deed::kSay:
      std::fprintf(stderr, "chaos says that it runs\n");
      return;
    case Deed::kLeak:
      return Leak(static_cast<size_t>(fault.argument));
    default:
      return;
  }
}

}  // namespace bulkhead::tests
