// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/lockdown/lockdown.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "ipc/deadline.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/schema/lockdown.capnp.h"
#include "ipc/testing/forked_child.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker::lockdown {
namespace {

namespace schema = ipc::schema;

// Passed as the control socket: a lock-down without notifications sends
// nothing.
constexpr int kNoSocket = -1;
constexpr int kNoObject = -1;

// Answers one system call with an errno and allows the rest.
std::vector<sock_filter> Refusing(uint32_t syscall, uint32_t error) {
  return {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, syscall, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
}

capnp::Data::Reader Bytes(const std::vector<sock_filter>& filter) {
  return {reinterpret_cast<const kj::byte*>(filter.data()),
          filter.size() * sizeof(sock_filter)};
}

ipc::UniqueFd Memory(kj::ArrayPtr<const kj::byte> bytes) {
  ipc::UniqueFd memory(memfd_create("lockdown", MFD_CLOEXEC));
  EXPECT_EQ(write(memory.get(), bytes.begin(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  return memory;
}

bool HasLandlock() {
  return syscall(SYS_landlock_create_ruleset, nullptr, 0, 1) > 0;
}

constexpr char kObjectPath[] = "/opt/acme/libacme.so";

ipc::UniqueFd Plan(bool notifies = false,
                   const std::string& object_path = kObjectPath) {
  const auto reaper = Refusing(SYS_getppid, 101);
  const auto zygote = Refusing(SYS_getppid, 102);
  const auto session = Refusing(SYS_getppid, 103);
  capnp::MallocMessageBuilder message;
  auto lockdown = message.initRoot<schema::Lockdown>();
  lockdown.setReaperFilter(Bytes(reaper));
  lockdown.setZygoteFilter(Bytes(zygote));
  lockdown.setSessionFilter(Bytes(session));
  lockdown.setPluginPath(object_path);
  lockdown.setEntrySymbol("acme_backend");
  lockdown.setDisableSpeculation(true);
  lockdown.setNotifies(notifies);
  if (HasLandlock()) {
    auto landlock = lockdown.initLandlock();
    landlock.setAbi(1);
    landlock.setHandledAccessFs((1 << 13) - 1);
    auto rules = landlock.initRules(2);
    rules[0].setPath("/usr");
    rules[0].setAccess(1 << 2 | 1 << 3);
    rules[1].setPath("/there-is-no-such-file");
    rules[1].setAccess(1 << 2);
  }
  return Memory(capnp::messageToFlatArray(message).asBytes());
}

// Restrictions cannot be taken back, so each body runs in a child process. The
// body returns the number of the first expectation that does not hold.
int InChild(const std::function<int()>& body) {
  const int status = ipc::ForkedChild(body).Wait();
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int ParentQuery() { return syscall(SYS_getppid) >= 0 ? 0 : errno; }

bool Opens(const char* path) {
  return static_cast<bool>(
      ipc::UniqueFd(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

TEST(LockdownTest, ReadsWhatBulkheaddWrote) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(lockdown->plugin_path(), kObjectPath);
  EXPECT_EQ(lockdown->entry_symbol(), "acme_backend");
}

TEST(LockdownTest, RefusesWhatIsNoMessage) {
  EXPECT_FALSE(Lockdown::Read(-1));
  EXPECT_FALSE(Lockdown::Read(Memory({}).get()));
  const std::string odd = "12345";
  EXPECT_FALSE(Lockdown::Read(
      Memory({reinterpret_cast<const kj::byte*>(odd.data()), odd.size()})
          .get()));
  const std::string noise(64, '\xff');
  EXPECT_FALSE(Lockdown::Read(
      Memory({reinterpret_cast<const kj::byte*>(noise.data()), noise.size()})
          .get()));
}

TEST(LockdownTest, RefusesWhatIsTooLarge) {
  constexpr size_t kMostBytes = 16 << 20;
  EXPECT_TRUE(
      Lockdown::Read(Plan(false, std::string(kMostBytes / 2, 'x')).get()));
  EXPECT_FALSE(Lockdown::Read(Plan(false, std::string(kMostBytes, 'x')).get()));
}

TEST(LockdownTest, Stage1AppliesFilterRulesAndGivesUpPrivileges) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(InChild([&] {
              if (!lockdown->InstallStage1(kNoSocket, kNoObject)) return 1;
              if (ParentQuery() != 102) return 2;
              if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 3;
              if (HasLandlock() && Opens("/etc")) return 4;
              return Opens("/usr") ? 0 : 5;
            }),
            0);
}

int OpenDescriptors() {
  int open = 0;
  for (int fd = 0; fd < 256; ++fd) open += fcntl(fd, F_GETFD) >= 0;
  return open;
}

TEST(LockdownTest, Stage1SendsItsListenerAndKeepsNone) {
  const auto lockdown = Lockdown::Read(Plan(true).get());
  ASSERT_TRUE(lockdown);
  auto sockets = ipc::MakeSocketPair();
  ASSERT_TRUE(sockets);
  EXPECT_EQ(InChild([&] {
              const int before = OpenDescriptors();
              if (!lockdown->InstallStage1(sockets->second.get(), kNoObject))
                return 1;
              if (OpenDescriptors() != before) return 2;
              return ParentQuery() == 102 ? 0 : 3;
            }),
            0);
  auto received = ipc::ReceiveMessage(
      sockets->first.get(), 1,
      ipc::Deadline::After(std::chrono::milliseconds(60'000)));
  ASSERT_TRUE(received && *received);
  const auto event = (*received)->root<schema::ZygoteEvent>();
  ASSERT_TRUE(event);
  EXPECT_TRUE(event->isLocked());
  ASSERT_EQ((*received)->descriptors.size(), 1u);
  uint64_t none = 0;
  errno = 0;
  EXPECT_NE(ioctl((*received)->descriptors[0].get(),
                  SECCOMP_IOCTL_NOTIF_ID_VALID, &none),
            0);
  EXPECT_EQ(errno, ENOENT);
}

TEST(LockdownTest, Stage1WithoutAnybodyToListenFails) {
  const auto lockdown = Lockdown::Read(Plan(true).get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(InChild([&] {
              return lockdown->InstallStage1(kNoSocket, kNoObject) ? 1 : 0;
            }),
            0);
}

TEST(LockdownTest, Stage2ForgetsAllHandlersButThoseOfFaults) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(InChild([&] {
              const auto handler = [](int) {};
              for (const int number : {SIGABRT, SIGSYS, SIGUSR1, SIGSEGV}) {
                signal(number, handler);
              }
              signal(SIGPIPE, SIG_IGN);
              if (!lockdown->InstallStage1(kNoSocket, kNoObject)) return 1;
              if (!lockdown->InstallStage2()) return 2;
              for (const int number : {SIGABRT, SIGSYS, SIGUSR1}) {
                if (signal(number, SIG_DFL) != SIG_DFL) return number;
              }
              if (signal(SIGPIPE, SIG_DFL) != SIG_IGN) return 3;
              return signal(SIGSEGV, SIG_DFL) == handler ? 0 : 4;
            }),
            0);
}

TEST(LockdownTest, Stage2ClosesEveryPathAndEveryOtherProcess) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  const pid_t sibling = getpid();
  EXPECT_EQ(InChild([&] {
              if (!lockdown->InstallStage1(kNoSocket, kNoObject)) return 1;
              if (!lockdown->InstallStage2()) return 2;
              // Both filters answer; the errno of the newest filter wins.
              if (ParentQuery() != 103) return 3;
              if (HasLandlock() && Opens("/usr")) return 4;
              errno = 0;
              if (syscall(SYS_tgkill, sibling, sibling, 0) == 0) return 5;
              if (errno != EPERM) return 6;
              const pid_t self = getpid();
              if (syscall(SYS_tgkill, self, self, 0) != 0) return 7;
              return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 8;
            }),
            0);
}

TEST(LockdownTest, Stage2LeavesAQuarterOfTheTasks) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(InChild([&] {
              rlimit tasks = {.rlim_cur = 400, .rlim_max = 400};
              if (setrlimit(RLIMIT_NPROC, &tasks) != 0) return 1;
              if (!lockdown->InstallStage1(kNoSocket, kNoObject)) return 2;
              if (!lockdown->InstallStage2()) return 3;
              if (getrlimit(RLIMIT_NPROC, &tasks) != 0) return 4;
              if (tasks.rlim_cur != 300) return 5;
              return tasks.rlim_max == 300 ? 0 : 6;
            }),
            0);
}

void StartASecondThread() {
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        while (true) pause();
      },
      nullptr);
}

TEST(LockdownTest, Stage1RefusesAProcessWithASecondThread) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(InChild([&] {
              StartASecondThread();
              return lockdown->InstallStage1(kNoSocket, kNoObject) ? 1 : 0;
            }),
            0);
}

// Docker's profile refuses unshare(), whatever its flags.
void RefuseUnshare() {
  std::vector<sock_filter> filter = Refusing(SYS_unshare, EPERM);
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                              .filter = filter.data()};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST(LockdownTest, Stage1CountsThreadsWhereUnshareIsRefused) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(InChild([&] {
              RefuseUnshare();
              if (unshare(CLONE_THREAD) == 0) return 1;
              return lockdown->InstallStage1(kNoSocket, kNoObject) ? 0 : 2;
            }),
            0);
  EXPECT_EQ(InChild([&] {
              RefuseUnshare();
              StartASecondThread();
              return lockdown->InstallStage1(kNoSocket, kNoObject) ? 1 : 0;
            }),
            0);
}

TEST(LockdownTest, TheObjectIsReadableInStage1Alone) {
  if (!HasLandlock()) GTEST_SKIP() << "this kernel has no Landlock";
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  // No directory above it has a rule.
  std::string name = ::testing::TempDir() + "/object-XXXXXX";
  const ipc::UniqueFd object(mkstemp(name.data()));
  ASSERT_TRUE(object);
  unlink(name.c_str());
  const std::string path = "/proc/self/fd/" + std::to_string(object.get());
  const auto opens = [&] {
    return static_cast<bool>(
        ipc::UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)));
  };
  EXPECT_EQ(InChild([&] {
              if (!lockdown->InstallStage1(kNoSocket, kNoObject)) return 1;
              return opens() ? 2 : 0;
            }),
            0);
  EXPECT_EQ(InChild([&] {
              if (!lockdown->InstallStage1(kNoSocket, object.get())) return 1;
              if (!opens()) return 2;
              if (!lockdown->InstallStage2()) return 3;
              return opens() ? 4 : 0;
            }),
            0);
}

TEST(LockdownTest, ReaperFilterIsItsOwn) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(InChild([&] {
              if (!lockdown->InstallReaperFilter()) return 1;
              return ParentQuery() == 101 ? 0 : 2;
            }),
            0);
}

TEST(LockdownTest, TheReaperGivesUpPrivilegesAndIsNotLookedInto) {
  const auto lockdown = Lockdown::Read(Plan().get());
  ASSERT_TRUE(lockdown);
  EXPECT_EQ(InChild([&] {
              if (!lockdown->InstallReaperFilter()) return 1;
              if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 2;
              return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : 3;
            }),
            0);
}

}  // namespace
}  // namespace bulkhead::worker::lockdown
