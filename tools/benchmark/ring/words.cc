// SPDX-License-Identifier: Apache-2.0
//
// Mechanisms that pass one word in shared memory. Each shows the lowest cost of
// its way to wait: spinning, a futex, or eventfds.
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

// Tells the processor that this is a spinning loop.
void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

// Waits by reading the word again and again, without giving up the processor.
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

// Waits in the kernel, by futex(). If the flag `has_waiter` is not set, the
// sender needs no system call.
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
        // Sleeps only while the word still has the previous value.
        syscall(SYS_futex, &word.value, FUTEX_WAIT, value - 1, nullptr, nullptr,
                0);
      }
      word.has_waiter.store(0);
    }
  }

  SharedMemory memory_{sizeof(Words)};
  uint32_t sent_ = 0;
};

// Waits in read() of an eventfd.
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
