// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes what bulkheadd makes of the messages of a zygote and its reaper. The
// input is a script. Each step begins with a letter: `z` and `r` send the
// packet that follows, after its size in two bytes, as the zygote and as the
// reaper; with `Z` and `R` a descriptor of a process comes along; `c` asks for
// a worker, `k` kills the last one and `f` forgets it.

#include <fcntl.h>
#include <kj/async-unix.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/incarnation.h"
#include "ipc/message_socket.h"
#include "ipc/unique_fd.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/packet.h"

namespace {

using namespace bulkhead;
using backend::Incarnation;
using std::chrono::milliseconds;

constexpr milliseconds kNeverInOneInput{60'000};

// A process that only waits to be killed, in the place of a reaper, a zygote
// and each worker. Shares our memory, since a copy takes long to make.
struct Dummy {
  ipc::UniqueFd pidfd;
  pid_t pid;
};

// Runs on the thread-local memory of the fuzzer, which instrumentation writes.
#ifdef __clang__
__attribute__((no_sanitize("coverage")))
#endif
__attribute__((no_sanitize("address", "thread", "undefined"))) int
Wait(void*) {
  for (;;) ::syscall(SYS_pause);
}

Dummy StartDummy() {
  alignas(16) static char stack[3][4096];
  static size_t next = 0;
  int pidfd = -1;
  const pid_t pid = ::clone(Wait, stack[next++ % 3] + sizeof stack[0],
                            CLONE_VM | CLONE_PIDFD, nullptr, &pidfd);
  FUZZ_CHECK(pid > 0);
  return {.pidfd = ipc::UniqueFd(pidfd), .pid = pid};
}

void KillDummy(const Dummy& dummy) {
  ::syscall(SYS_pidfd_send_signal, dummy.pidfd.get(), SIGKILL, nullptr, 0);
}

void KillAndReap(const Dummy& dummy) {
  KillDummy(dummy);
  ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(dummy.pidfd.get()),
           nullptr, WEXITED | __WALL);
}

struct Loop {
  kj::UnixEventPort port;
  kj::EventLoop loop{port};
  kj::WaitScope scope{loop};
};

class Script {
 public:
  Script(Loop& loop, std::span<const uint8_t> steps)
      : loop_(loop), ending_(loop.port), steps_(steps) {
    auto reaper = ipc::MakeSocketPair().value();
    auto zygote = ipc::MakeSocketPair().value();
    auto log = ipc::MakeSocketPair().value();
    reaper_socket_ = std::move(reaper.first);
    zygote_socket_ = std::move(zygote.first);
    log_ = std::move(log.first);
    FUZZ_CHECK(::fcntl(log.second.get(), F_SETFL, O_NONBLOCK) == 0);
    incarnation_ = std::make_shared<Incarnation>(
        loop_.port,
        sandbox::LaunchedReaper{
            .pidfd = ipc::UniqueFd(::dup(reaper_.pidfd.get())),
            .pid = reaper_.pid,
            .control = std::move(reaper.second),
            .zygote_control = std::move(zygote.second),
            .log = std::move(log.second),
            .cgroup = nullptr},
        sandbox::Forbidden::kKill,
        sandbox::ExpectedCalls({}, /*reads_memory=*/false, held_parts_),
        sandbox::LoadedMemory(), ending_, met_media_);
    ready_.emplace(incarnation_->AwaitReady(kNeverInOneInput)
                       .then([this](Status) { ++answers_to_ready_; })
                       .eagerlyEvaluate(nullptr));
  }
  ~Script() {
    // A dead reaper is what the end of an incarnation waits for.
    KillDummy(reaper_);
    ready_.reset();
    workers_.clear();
    incarnation_.reset();
    while (ending_.count() > 0) {
      loop_.port.wait();
      loop_.scope.poll();
    }
    // Not there to be reaped any more if the incarnation saw it end.
    KillAndReap(reaper_);
    KillAndReap(zygote_);
  }

  // Makes one step. Returns false at the end of the script.
  bool Step() {
    if (steps_.empty()) return false;
    const char step = static_cast<char>(steps_[0]);
    steps_ = steps_.subspan(1);
    switch (step) {
      case 'z':
      case 'Z':
        Send(zygote_socket_, step == 'Z');
        break;
      case 'r':
      case 'R':
        Send(reaper_socket_, step == 'R');
        break;
      case 'c':
        Clone();
        break;
      case 'k':
        if (last_ && incarnation_->WorkerRuns(*last_)) {
          incarnation_->KillWorker(*last_);
        }
        break;
      case 'f':
        if (last_) incarnation_->ForgetWorker(*last_);
        break;
      default:
        return false;
    }
    loop_.port.poll();
    loop_.scope.poll();
    Check();
    return true;
  }

 private:
  void Send(const ipc::UniqueFd& socket, bool with_descriptor) {
    if (steps_.size() < 2) return;
    const size_t bytes =
        std::min<size_t>(steps_[0] << 8 | steps_[1], steps_.size() - 2);
    // An empty packet would be the end of the connection.
    if (bytes > 0) {
      (void)fuzz::SendPacket(socket.get(), steps_.subspan(2, bytes),
                             with_descriptor ? zygote_.pidfd.get() : -1);
    }
    steps_ = steps_.subspan(2 + bytes);
  }

  void Clone() {
    // bulkheadd asks only for workers of a zygote whose process it knows.
    if (incarnation_->zygote_pid() == 0 || workers_.size() >= 16) return;
    auto sockets = ipc::MakeSocketPair().value();
    sockets_.push_back(std::move(sockets.first));
    ++asked_;
    workers_.push_back(incarnation_
                           ->CloneWorker(Incarnation::WorkerKind::kSession,
                                         std::move(sockets.second),
                                         kNeverInOneInput)
                           .then([this](Result<Incarnation::Worker> worker) {
                             ++answered_;
                             if (!worker) return;
                             FUZZ_CHECK(worker->pid > 1 && worker->pidfd);
                             last_ = worker->pid;
                           })
                           .eagerlyEvaluate(nullptr));
  }

  void Check() {
    FUZZ_CHECK(answers_to_ready_ <= 1);
    FUZZ_CHECK(answered_ <= asked_);
    if (incarnation_->zygote_alive()) return;
    // Whoever waits for a zygote that is gone hears so, or will hear how it
    // ended.
    if (!incarnation_->zygote_end().empty()) {
      FUZZ_CHECK(answers_to_ready_ == 1);
      FUZZ_CHECK(answered_ == asked_);
    }
  }

  Loop& loop_;
  backend::EndingReapers ending_;
  bool met_media_ = false;
  sandbox::HeldParts held_parts_;
  std::span<const uint8_t> steps_;
  const Dummy reaper_ = StartDummy();
  const Dummy zygote_ = StartDummy();
  ipc::UniqueFd reaper_socket_;
  ipc::UniqueFd zygote_socket_;
  ipc::UniqueFd log_;
  std::shared_ptr<Incarnation> incarnation_;
  std::vector<ipc::UniqueFd> sockets_;
  std::vector<kj::Promise<void>> workers_;
  std::optional<kj::Promise<void>> ready_;
  int answers_to_ready_ = 0;
  int asked_ = 0;
  int answered_ = 0;
  std::optional<pid_t> last_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // kj allows one UnixEventPort with a SIGCHLD handler for each thread, and
  // making one costs more than an input.
  static Loop& loop = *new Loop;
  Script script(loop, {data, size});
  while (script.Step()) {
  }
  return 0;
}
