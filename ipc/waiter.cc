// SPDX-License-Identifier: Apache-2.0
#include "ipc/waiter.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "ipc/robust_word.h"

namespace bulkhead::ipc {
namespace {

// A peer that is awake on another core answers within kPauseFor.
constexpr auto kPauseFor = std::chrono::microseconds(1);
// A peer that has to be woken first answers within kSpinFor.
constexpr auto kSpinFor = std::chrono::microseconds(100);
// A wait of at most this length counts as short. Its peer answered within
// kSpinFor, so that spinning would have ended the wait, and waking this side
// took up to another kSpinFor.
constexpr auto kShortWait = 2 * kSpinFor;

// The number of futex_waitv and its structure, which the headers of this C
// library lack. They are the same on all architectures.
constexpr long kFutexWaitv = 449;
struct FutexWaitv {
  uint64_t value;
  uint64_t address;
  uint32_t flags;
  uint32_t reserved;
};
constexpr uint32_t kFutex32 = 2;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

FutexWaitv SleepOn(const std::atomic<uint32_t>* word, uint32_t value,
                   bool in_process) {
  return {.value = value,
          .address = reinterpret_cast<uint64_t>(word),
          .flags = kFutex32 | (in_process ? FUTEX_PRIVATE_FLAG : 0),
          .reserved = 0};
}

// Returns whether the kernel is too old for a call, or a seccomp filter refuses
// it.
bool IsMissing(int error) { return error == ENOSYS || error == EPERM; }

}  // namespace

WatchedWord WatchedWord::Robust(const std::atomic<uint32_t>* word) {
  return {.word = word,
          .mask = RobustWord::kOwnerDied,
          .value = RobustWord::kOwnerDied,
          .means = Wake::kPeerGone,
          .scope = Scope::kOfOwner};
}

Waiter::Waiter(RegionHeader* own, const RegionHeader* peer,
               std::initializer_list<WatchedWord> words, bool may_spin,
               bool may_sleep_on_many)
    : own_(own),
      peer_(peer),
      word_count_(std::min(words.size(), kMostWords)),
      may_spin_(may_spin),
      may_sleep_on_many_(may_sleep_on_many) {
  std::copy_n(words.begin(), word_count_, words_.begin());
}

bool Waiter::MoreThanOneCpu() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) > 1;
}

bool Waiter::KernelSleepsOnMany() {
  // A kernel that has the call refuses an empty list of words as invalid.
  return syscall(kFutexWaitv, nullptr, 0, 0, nullptr, CLOCK_MONOTONIC) < 0 &&
         !IsMissing(errno);
}

bool Waiter::SpinOnce(Instant start, bool& yielded) const {
  const auto spun = std::chrono::steady_clock::now() - start;
  if (may_spin_ && spun < kPauseFor) {
    Pause();
    return true;
  }
  // Yields once, or for all of kSpinFor if the peer is likely to be that quick.
  const bool spins_on = may_spin_ && last_was_short_ && spun < kSpinFor;
  if (yielded && !spins_on) return false;
  yielded = true;
  sched_yield();
  return true;
}

void Waiter::RememberWait(Instant start) {
  last_was_short_ = std::chrono::steady_clock::now() - start < kShortWait;
}

Wake Waiter::Look() const {
  for (size_t i = 0; i < word_count_; ++i) {
    if (words_[i].ends()) return words_[i].means;
  }
  return Wake::kReady;
}

Wake Waiter::Sleep(uint32_t seen, Deadline deadline) {
  if (const Wake known = Look(); known != Wake::kReady) return known;
  SleepInKernel(seen, deadline);
  // The kernel wakes only one thread that sleeps on a RobustWord, and this may
  // be that thread. So it wakes the others, whatever ended its sleep.
  for (size_t i = 0; i < word_count_; ++i) {
    if (words_[i].scope == WatchedWord::Scope::kOfOwner && words_[i].ends()) {
      WakeSleepers(words_[i].word, words_[i].scope);
    }
  }
  if (const Wake known = Look(); known != Wake::kReady) return known;
  // The deadline is checked after every wake-up, so that neither needless wakes
  // by the peer nor signals extend the wait.
  return deadline.passed() ? Wake::kDeadline : Wake::kReady;
}

void Waiter::SleepInKernel(uint32_t seen, Deadline deadline) {
  std::array<FutexWaitv, kMostWords + 1> sleeps;
  size_t count = 0;
  sleeps[count++] = SleepOn(&peer_->wakes, seen, false);
  for (size_t i = 0; i < word_count_; ++i) {
    const WatchedWord& watched = words_[i];
    if (watched.scope == WatchedWord::Scope::kWithPeer) continue;
    const uint32_t now = watched.word->load();
    // This word already ends the wait, so there is no reason to sleep.
    if ((now & watched.mask) == watched.value) return;
    sleeps[count++] = SleepOn(watched.word, now,
                              watched.scope == WatchedWord::Scope::kProcess);
  }
  if (count > 1 && may_sleep_on_many_) {
    const timespec until = deadline.timespec_of_clock();
    if (syscall(kFutexWaitv, sleeps.data(), count, 0, &until,
                CLOCK_MONOTONIC) >= 0 ||
        !IsMissing(errno)) {
      return;
    }
    may_sleep_on_many_ = false;
  }
  // Without futex_waitv, sleeps on `wakes` alone. FUTEX_WAIT takes a relative
  // time.
  const Deadline slice = Deadline::After(kSlice);
  const bool to_deadline =
      count == 1 || deadline.remaining() < slice.remaining();
  const timespec left = (to_deadline ? deadline : slice).remaining_timespec();
  syscall(SYS_futex, &peer_->wakes, FUTEX_WAIT, seen, &left, nullptr, 0);
}

void WakePeer(RegionHeader* own, const RegionHeader* peer, WakeReason reason) {
  if ((peer->sleeping.load() & static_cast<uint32_t>(reason)) == 0) return;
  own->wakes.fetch_add(1);
  syscall(SYS_futex, &own->wakes, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void WakeSleepers(const std::atomic<uint32_t>* word, WatchedWord::Scope scope) {
  const int command = scope == WatchedWord::Scope::kProcess
                          ? FUTEX_WAKE | FUTEX_PRIVATE_FLAG
                          : FUTEX_WAKE;
  syscall(SYS_futex, word, command, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace bulkhead::ipc
