// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/seccomp_listener.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "core/supervisor/sandbox/bpf.h"
#include "core/supervisor/sandbox/syscall_tables.h"
#include "core/supervisor/sandbox/testing/int80.h"
#include "core/supervisor/sandbox/testing/no_descriptor_left.h"
#include "ipc/lockdown_filters.h"

namespace bulkhead::sandbox {
namespace {

constexpr int kLivedOn = 7;

long Install(std::vector<sock_filter> filter, unsigned long flags) {
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                              .filter = filter.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

// The child shares its descriptors with the test, so it need not send the
// listener: it stores the number of the descriptor and waits to be released.
struct Shared {
  volatile int listener = -1;
  volatile bool go = false;
};

// A process that does `deed` under stage 1, and under stage 2 unless the deed
// does that itself.
class Backend {
 public:
  enum class Stages { kOne, kBoth };

  explicit Backend(const std::function<void()>& deed,
                   Stages stages = Stages::kBoth) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (memory) Shared;
    pid_ = static_cast<pid_t>(syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr,
                                      nullptr, nullptr, 0));
    if (pid_ == 0) Run(deed, stages);
    while (shared_->listener == -1) sched_yield();
  }
  ~Backend() { munmap(shared_, sizeof(Shared)); }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // Empty if this kernel has no notifications.
  ipc::UniqueFd TakeListener() {
    const int listener = shared_->listener;
    return ipc::UniqueFd(listener < 0 ? -1 : listener);
  }
  void Go() { shared_->go = true; }
  pid_t pid() const { return pid_; }
  int AwaitEnd() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return status;
  }

 private:
  void Run(const std::function<void()>& deed, Stages stages) {
    Table zygote = ZygoteTable();
    // Nobody answers before the deed.
    for (Rule& rule : zygote) rule.asks &= stages == Stages::kOne;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const long listener = Install(CompileFilter(zygote, Forbidden::kNotify),
                                  SECCOMP_FILTER_FLAG_NEW_LISTENER |
                                      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    if (listener < 0 ||
        (stages == Stages::kBoth && Install(SessionFilter(Forbidden::kNotify),
                                            SECCOMP_FILTER_FLAG_TSYNC) != 0)) {
      shared_->listener = -2;
      _exit(1);
    }
    shared_->listener = static_cast<int>(listener);
    while (!shared_->go) sched_yield();
    deed();
    _exit(kLivedOn);
  }

  Shared* shared_;
  pid_t pid_;
};

class SeccompListenerTest : public testing::Test {
 protected:
  // Returns the violation for which `deed` is stopped, if any.
  std::optional<Violation> Stop(const std::function<void()>& deed) {
    Backend backend(deed);
    ipc::UniqueFd fd = backend.TakeListener();
    if (!fd) {
      ADD_FAILURE() << "this kernel refuses a listener";
      return std::nullopt;
    }
    auto listener = SeccompListener::Adopt(std::move(fd));
    if (!listener) {
      ADD_FAILURE() << listener.error();
      return std::nullopt;
    }
    EXPECT_FALSE(listener->StopNext(expected_));
    backend.Go();
    pollfd wait = {.fd = listener->fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&wait, 1, 60'000), 1);
    const auto violation = listener->StopNext(expected_);
    status_ = backend.AwaitEnd();
    if (violation) {
      EXPECT_EQ(violation->process, backend.pid());
    }
    return violation;
  }

  // Expects that `deed`, in stage 1, ends its process by a seccomp().
  void ExpectEndBySeccomp(const std::function<void()>& deed) {
    Backend backend(deed, Backend::Stages::kOne);
    auto listener = SeccompListener::Adopt(backend.TakeListener());
    ASSERT_TRUE(listener) << listener.error();
    backend.Go();
    pollfd wait = {.fd = listener->fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&wait, 1, 60'000), 1);
    const auto violation = listener->StopNext(expected_);
    ASSERT_TRUE(violation);
    EXPECT_EQ(violation->number, SYS_seccomp);
    EXPECT_TRUE(WIFSIGNALED(backend.AwaitEnd()));
  }

  int status_ = 0;
  HeldParts parts_;
  ExpectedCalls expected_{
      {SessionFilter(Forbidden::kNotify), std::nullopt, {}}, true, parts_};
};

TEST_F(SeccompListenerTest, EndsWhoMakesAForbiddenCallAndSaysWhich) {
  const auto violation = Stop([] { syscall(SYS_ptrace, -1, 0, 0, 0); });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->number, SYS_ptrace);
  EXPECT_EQ(violation->architecture, uint32_t{AUDIT_ARCH_X86_64});
  EXPECT_TRUE(WIFSIGNALED(status_));
}

TEST_F(SeccompListenerTest, TellsOtherArchitectures) {
  if (!MachineTakesInt80()) GTEST_SKIP() << "this machine has no int $0x80";
  const auto violation = Stop([] {
    long result = 64;
    asm volatile("int $0x80" : "+a"(result) : : "memory");
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->number, 64);
  EXPECT_EQ(violation->architecture, uint32_t{AUDIT_ARCH_I386});
  EXPECT_TRUE(WIFSIGNALED(status_));
}

TEST_F(SeccompListenerTest, TellsX32) {
  const auto violation = Stop([] { syscall(0x40000000 | SYS_getpid); });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->number, 0x40000000 | SYS_getpid);
  EXPECT_TRUE(WIFSIGNALED(status_));
}

TEST_F(SeccompListenerTest, NoThreadSurvivesTheViolationOfAnother) {
  const auto violation = Stop([] {
    pthread_t thread;
    const auto violate = [](void*) -> void* {
      syscall(SYS_bpf, -1, nullptr, 0);
      return nullptr;
    };
    pthread_create(&thread, nullptr, violate, nullptr);
    while (true) sched_yield();
  });
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->number, SYS_bpf);
  EXPECT_TRUE(WIFSIGNALED(status_));
}

// Without a descriptor for /proc nobody knows whose call it is.
TEST_F(SeccompListenerTest, CallFailsWhileNoDescriptorIsLeft) {
  Backend backend([] { _exit(syscall(SYS_setsid) == -1 ? errno : kLivedOn); });
  auto listener = SeccompListener::Adopt(backend.TakeListener());
  ASSERT_TRUE(listener) << listener.error();
  backend.Go();
  pollfd wait = {.fd = listener->fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&wait, 1, 60'000), 1);
  {
    const NoDescriptorLeft starved;
    EXPECT_FALSE(listener->StopNext(expected_));
  }
  const int status = backend.AwaitEnd();
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), EAGAIN) << "the call was executed";
}

TEST_F(SeccompListenerTest, CallIsRefusedWhenNobodyListensAnyMore) {
  const bool takes_int80 = MachineTakesInt80();
  Backend backend([takes_int80] {
    errno = 0;
    if (syscall(SYS_getsid, 0) != -1 || errno != ENOSYS) _exit(1);
    if (!takes_int80) return;
    long result = 20;
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    if (result != -ENOSYS) _exit(2);
  });
  ASSERT_TRUE(backend.TakeListener()) << "this kernel refuses a listener";
  backend.Go();
  const int status = backend.AwaitEnd();
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), kLivedOn);
}

// Installs a filter as a lock-down does, and ends with the errno.
void InstallAndEnd(const std::vector<sock_filter>& filter) {
  _exit(Install(filter, SECCOMP_FILTER_FLAG_TSYNC) == 0 ? kLivedOn : errno);
}

TEST_F(SeccompListenerTest, ApprovedCallIsExecuted) {
  const auto deed = [] { InstallAndEnd(ipc::NoDescriptorsAreSent()); };
  Backend backend(deed, Backend::Stages::kOne);
  auto listener = SeccompListener::Adopt(backend.TakeListener());
  ASSERT_TRUE(listener) << listener.error();
  backend.Go();
  pollfd wait = {.fd = listener->fd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&wait, 1, 60'000), 1);
  EXPECT_FALSE(listener->StopNext(expected_));
  const int status = backend.AwaitEnd();
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), kLivedOn);
}

// The delays between the call and the kill cover the time in which it is
// decided.
TEST_F(SeccompListenerTest, WhoIsKilledWhileItWaitsHasViolatedNothing) {
  for (int round = 0; round < 400; ++round) {
    Backend backend([] { InstallAndEnd(ipc::NoDescriptorsAreSent()); },
                    Backend::Stages::kOne);
    auto listener = SeccompListener::Adopt(backend.TakeListener());
    ASSERT_TRUE(listener) << listener.error();
    ExpectedCalls expected(
        {SessionFilter(Forbidden::kNotify), std::nullopt, {}}, true, parts_);
    backend.Go();
    pollfd wait = {.fd = listener->fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&wait, 1, 60'000), 1);
    const auto start = std::chrono::steady_clock::now();
    std::thread killer([&] {
      const auto delay = std::chrono::microseconds(round);
      while (std::chrono::steady_clock::now() - start < delay) continue;
      kill(backend.pid(), SIGKILL);
    });
    const auto violation = listener->StopNext(expected);
    killer.join();
    backend.AwaitEnd();
    ASSERT_FALSE(violation) << "round " << round;
  }
}

TEST_F(SeccompListenerTest, FilterThatLogsEndsItsProcess) {
  ExpectEndBySeccomp(
      [] { InstallAndEnd({BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG)}); });
}

// With this flag each call that the filter answers is written to the kernel's
// log.
TEST_F(SeccompListenerTest, FilterOfOursThatLogsEndsItsProcess) {
  ExpectEndBySeccomp([] {
    Install(ipc::NoDescriptorsAreSent(),
            SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG);
  });
}

TEST_F(SeccompListenerTest, RefusesWhatIsNoListener) {
  EXPECT_FALSE(SeccompListener::Adopt(ipc::UniqueFd(dup(0))));
  EXPECT_FALSE(SeccompListener::Adopt(ipc::UniqueFd()));
}

}  // namespace
}  // namespace bulkhead::sandbox
