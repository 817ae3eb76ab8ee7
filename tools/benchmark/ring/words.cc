// SPDX-License-Identifier: Apache-2.0
//
// The mechanisms that pass one word: the least that any mechanism of their kind
// can cost.
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "ipc/unique_fd.h"
#include "tools/benchmark/ring/mechanism.h"
#include "tools/benchmark/ring/shared_memory.h"

namespace bulkhead::benchmark {
namespace {

struct Word {
  alignas(64) std::atomic<uint32_t> value;
  std::atomic<uint32_t> has_waiter;
};

struct Words {
  Word request;
  Word answer;
};

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

// Waits for a word by reading it over and over. Never gives up the processor.
class Spin : public Mechanism {
 public:
  void Serve() override {
    Words& words = memory_.as<Words>();
    for (uint32_t next = 1;; ++next) {
      while (words.request.value.load() != next) Pause();
      words.answer.value.store(next);
    }
  }
  bool RoundTrip() override {
    Words& words = memory_.as<Words>();
    words.request.value.store(++sent_);
    while (words.answer.value.load() != sent_) Pause();
    return true;
  }

 private:
  SharedMemory memory_{sizeof(Words)};
  uint32_t sent_ = 0;
};

// Sleeps on a word in the kernel. A flag spares the sender the system call if
// nobody sleeps.
class Futex : public Mechanism {
 public:
  void Serve() override {
    Words& words = memory_.as<Words>();
    for (uint32_t next = 1;; ++next) {
      Await(words.request, next);
      Send(words.answer, next);
    }
  }
  bool RoundTrip() override {
    Words& words = memory_.as<Words>();
    Send(words.request, ++sent_);
    Await(words.answer, sent_);
    return true;
  }

 private:
  static void Send(Word& word, uint32_t value) {
    word.value.store(value);
    if (word.has_waiter.load() == 0) return;
    syscall(SYS_futex, &word.value, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  static void Await(Word& word, uint32_t value) {
    for (;;) {
      if (word.value.load() == value) return;
      word.has_waiter.store(1);
      if (word.value.load() != value) {
        syscall(SYS_futex, &word.value, FUTEX_WAIT, value - 1, nullptr, nullptr,
                0);
      }
      word.has_waiter.store(0);
    }
  }

  SharedMemory memory_{sizeof(Words)};
  uint32_t sent_ = 0;
};

class EventFds : public Mechanism {
 public:
  void Serve() override {
    for (;;) {
      if (Await(request_.get())) Send(answer_.get());
    }
  }
  bool RoundTrip() override {
    Send(request_.get());
    return Await(answer_.get());
  }

 private:
  static void Send(int fd) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = write(fd, &one, sizeof(one));
  }
  static bool Await(int fd) {
    uint64_t count;
    return read(fd, &count, sizeof(count)) == sizeof(count) && count == 1;
  }

  ipc::UniqueFd request_{eventfd(0, EFD_CLOEXEC)};
  ipc::UniqueFd answer_{eventfd(0, EFD_CLOEXEC)};
};

}  // namespace

std::unique_ptr<Mechanism> MakeSpin() { return std::make_unique<Spin>(); }
std::unique_ptr<Mechanism> MakeFutex() { return std::make_unique<Futex>(); }
std::unique_ptr<Mechanism> MakeEventFds() {
  return std::make_unique<EventFds>();
}

}  // namespace bulkhead::benchmark
