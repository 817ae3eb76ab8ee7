// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/lockdown/lockdown.h"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>

#include "ipc/capnp_read.h"
#include "ipc/lockdown_filters.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/schema/lockdown.capnp.h"
#include "ipc/try.h"
#include "ipc/unique_fd.h"
#include "ipc/worker_exit.h"

namespace bulkhead::worker::lockdown {
namespace {

namespace schema = ipc::schema;

// The lock-down of a distribution with ten thousand files is well below this.
constexpr off_t kMaxBytes = 16 << 20;
constexpr std::chrono::milliseconds kSendDeadline(5'000);
constexpr int kNoObject = -1;

tl::unexpected<ipc::Error> Failed(std::string what) {
  return ipc::FailErrno(ipc::Code::kSandboxUnavailable, std::move(what), errno);
}

tl::unexpected<ipc::Error> Malformed() {
  return ipc::Fail(ipc::Code::kInternal,
                   "the lock-down that bulkheadd passed is malformed");
}

std::vector<sock_filter> Filter(capnp::Data::Reader bytes) {
  std::vector<sock_filter> filter(bytes.size() / sizeof(sock_filter));
  if (!filter.empty()) {
    std::memcpy(filter.data(), bytes.begin(),
                filter.size() * sizeof(sock_filter));
  }
  return filter;
}

long SetFilter(const std::vector<sock_filter>& filter, unsigned long flags) {
  const sock_fprog program = {
      .len = static_cast<unsigned short>(filter.size()),
      .filter = const_cast<sock_filter*>(filter.data())};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

// Installs a filter in all threads. If one of them cannot have the filter, the
// kernel installs none and returns the id of that thread.
ipc::Expected<void> Install(const std::vector<sock_filter>& filter) {
  const long result = SetFilter(filter, SECCOMP_FILTER_FLAG_TSYNC);
  if (result < 0) return Failed("cannot install a seccomp filter");
  if (result > 0) {
    return ipc::Fail(ipc::Code::kSandboxUnavailable,
                     "a seccomp filter does not bind every thread");
  }
  return {};
}

// Installs a filter that notifies, and sends its listener to bulkheadd. With
// WAIT_KILLABLE_RECV, after bulkheadd has received a notification, only SIGKILL
// can end the thread's wait, so that no other signal makes the call return.
ipc::Expected<void> InstallAndSendListener(
    const std::vector<sock_filter>& filter, int control) {
  const ipc::UniqueFd listener(static_cast<int>(SetFilter(
      filter, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
                  SECCOMP_FILTER_FLAG_NEW_LISTENER |
                  SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)));
  if (!listener) return Failed("cannot install a seccomp filter that notifies");
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::ZygoteEvent>().setLocked();
  const int descriptors[] = {listener.get()};
  return ipc::SendMessage(control, message, descriptors,
                          ipc::Deadline::After(kSendDeadline));
}

// Returns whether this process has one thread only. unshare(CLONE_THREAD)
// changes nothing, and fails with EINVAL if there is a second thread. A
// container's filter may refuse every unshare() with another error. The backend
// then has no namespaces of its own, so /proc is visible and can be asked.
bool HasOneThread() {
  if (unshare(CLONE_THREAD) == 0) return true;
  if (errno == EINVAL) return false;
  struct stat tasks = {};
  // The directory has two links, and one more for each thread.
  constexpr nlink_t kLinksWithOneThread = 3;
  return stat("/proc/self/task", &tasks) == 0 &&
         tasks.st_nlink == kLinksWithOneThread;
}

// Lowers this worker's limit on tasks by a quarter. The kernel counts the tasks
// of the whole uid, but compares the count with the limit of the process that
// starts a task. So even a worker that starts as many threads as it can leaves
// a quarter for the zygote to clone other workers.
bool LeaveTasksToTheZygote() {
  rlimit tasks = {};
  if (getrlimit(RLIMIT_NPROC, &tasks) != 0) return false;
  if (tasks.rlim_max == RLIM_INFINITY) return true;
  tasks.rlim_max -= tasks.rlim_max / 4;
  tasks.rlim_cur = tasks.rlim_max;
  return setrlimit(RLIMIT_NPROC, &tasks) == 0;
}

// Removes the signal handlers that libraries have installed in the zygote,
// except for faults, and unblocks all signals. Stage 2 forbids new handlers, so
// abort() always ends the process, and rt_sigreturn(), by which handlers
// return. Makes system calls directly, since libc hides two signals of its own.
bool ResetSignals() {
  constexpr size_t kSetBytes = sizeof(uint64_t);
  struct {
    uint64_t handler;
    uint64_t rest[3];
  } action;
  for (int number = 1; number < NSIG; ++number) {
    if (std::ranges::find(ipc::kFaults, number) != std::end(ipc::kFaults) ||
        syscall(SYS_rt_sigaction, number, nullptr, &action, kSetBytes) != 0 ||
        action.handler == reinterpret_cast<uint64_t>(SIG_DFL) ||
        action.handler == reinterpret_cast<uint64_t>(SIG_IGN)) {
      continue;
    }
    action = {};
    if (syscall(SYS_rt_sigaction, number, &action, nullptr, kSetBytes) != 0) {
      return false;
    }
  }
  const uint64_t none = 0;
  return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, kSetBytes) ==
         0;
}

// Adds a rule that allows `access` to the open file or directory `fd` and to
// all files below it.
bool Allow(int ruleset, int fd, uint64_t access) {
  landlock_path_beneath_attr beneath = {};
  beneath.allowed_access = access;
  beneath.parent_fd = fd;
  return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
                 &beneath, 0) == 0;
}

}  // namespace

ipc::Expected<Lockdown> Lockdown::Read(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return Failed("cannot read the lock-down");
  if (status.st_size > kMaxBytes) return Malformed();
  auto words = kj::heapArray<capnp::word>(static_cast<size_t>(status.st_size) /
                                          sizeof(capnp::word));
  kj::ArrayPtr<kj::byte> bytes = words.asBytes();
  // pread(), since other processes share the offset of the descriptor. Fails
  // also if the size of the file is not a whole number of words.
  if (pread(fd, bytes.begin(), bytes.size(), 0) != status.st_size) {
    return Failed("cannot read the lock-down");
  }
  return ipc::ReadCatching([&]() -> ipc::Expected<Lockdown> {
    capnp::FlatArrayMessageReader message(
        words, ipc::BoundedReaderOptions(words.size()));
    const auto root = message.getRoot<schema::Lockdown>();
    Lockdown lockdown;
    lockdown.landlock_abi_ = root.getLandlock().getAbi();
    lockdown.handled_ = {root.getLandlock().getHandledAccessFs(),
                         root.getLandlock().getHandledAccessNet(),
                         root.getLandlock().getScoped()};
    for (const auto rule : root.getLandlock().getRules()) {
      PathRule& added = lockdown.rules_.emplace_back(
          PathRule{rule.getPath().cStr(), rule.getAccess(), std::nullopt});
      if (rule.hasIdentity()) {
        added.identity = ObjectIdentity{rule.getIdentity().getDevice(),
                                        rule.getIdentity().getInode()};
      }
    }
    for (const uint64_t device : root.getDevices()) {
      lockdown.devices_.push_back(device);
    }
    lockdown.reaper_filter_ = Filter(root.getReaperFilter());
    lockdown.zygote_filter_ = Filter(root.getZygoteFilter());
    lockdown.session_filter_ = Filter(root.getSessionFilter());
    lockdown.plugin_path_ = root.getPluginPath().cStr();
    lockdown.entry_symbol_ = root.getEntrySymbol().cStr();
    lockdown.disable_speculation_ = root.getDisableSpeculation();
    lockdown.notifies_ = root.getNotifies();
    return lockdown;
  });
}

bool Lockdown::IsGrantedDevice(int fd) const {
  struct stat file = {};
  return fstat(fd, &file) == 0 && S_ISCHR(file.st_mode) &&
         std::find(devices_.begin(), devices_.end(), file.st_rdev) !=
             devices_.end();
}

int Lockdown::Open(const PathRule& rule) {
  if (!rule.identity) return open(rule.path.c_str(), O_PATH | O_CLOEXEC);
  ipc::UniqueFd object(
      open(rule.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat found = {};
  // In tier reduced the file may have been replaced since bulkheadd checked it.
  if (!object || fstat(object.get(), &found) != 0 ||
      found.st_dev != rule.identity->device ||
      found.st_ino != rule.identity->inode) {
    errno = ENOENT;
    return -1;
  }
  return object.release();
}

ipc::Expected<void> Lockdown::RestrictFiles(const std::vector<PathRule>& rules,
                                            int object) const {
  if (landlock_abi_ == 0) return {};
  // Older kernels accept the longer struct if the fields unknown to them are 0.
  const ipc::UniqueFd ruleset(static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &handled_, sizeof(handled_), 0)));
  if (!ruleset) return Failed("cannot make a Landlock ruleset");
  for (const PathRule& rule : rules) {
    const ipc::UniqueFd path(Open(rule));
    // A file that is missing or invisible here needs no rule.
    if (!path && (errno == ENOENT || errno == EACCES)) continue;
    if (!path) return Failed("cannot open " + rule.path);
    if (!Allow(ruleset.get(), path.get(), rule.access)) {
      return Failed("cannot add " + rule.path + " to a Landlock ruleset");
    }
  }
  if (object >= 0 &&
      !Allow(ruleset.get(), object, LANDLOCK_ACCESS_FS_READ_FILE)) {
    return Failed("cannot add the shared object to a Landlock ruleset");
  }
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) {
    return Failed("cannot apply Landlock");
  }
  return {};
}

ipc::Expected<void> Lockdown::InstallStage1(int control, int object) const {
  if (!HasOneThread()) {
    return ipc::Fail(ipc::Code::kSandboxUnavailable,
                     "a library has started a thread before the lock-down");
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Failed("cannot give up privileges");
  }
  if (disable_speculation_) {
    for (const unsigned long which :
         {PR_SPEC_STORE_BYPASS, PR_SPEC_INDIRECT_BRANCH}) {
      prctl(PR_SET_SPECULATION_CTRL, which, PR_SPEC_FORCE_DISABLE, 0, 0);
      // Some CPUs have no switch per process; bulkheadd reports that, so it is
      // no error here.
      const int state = prctl(PR_GET_SPECULATION_CTRL, which, 0, 0, 0);
      if (state > 0 && (state & PR_SPEC_PRCTL) != 0 &&
          (state & PR_SPEC_FORCE_DISABLE) == 0) {
        return Failed("cannot disable speculation");
      }
    }
  }
  IPC_TRY(RestrictFiles(rules_, object));
  IPC_TRY(notifies_ ? InstallAndSendListener(zygote_filter_, control)
                    : Install(zygote_filter_));
  // Last, since this filter forbids sending descriptors, and the listener above
  // is one.
  return Install(ipc::NoDescriptorsAreSent());
}

ipc::Expected<void> Lockdown::InstallStage2(Tasks tasks) const {
  // A clone does not inherit the death signal. In tier full the end of pid 1
  // ends this process anyway; in tier reduced this signal does.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    return Failed("cannot bind its life to the reaper's");
  }
  if (!ResetSignals()) return Failed("cannot reset a signal");
  // Empties the robust list: at the end of a thread the kernel writes to the
  // futexes on it, in any shared memory, and wakes their waiters.
  if (syscall(SYS_set_robust_list, nullptr, 3 * sizeof(void*)) != 0) {
    return Failed("cannot drop its robust futexes");
  }
  if (tasks == Tasks::kLeaveSome && !LeaveTasksToTheZygote()) {
    return Failed("cannot limit its tasks");
  }
  IPC_TRY(RestrictFiles({}, kNoObject));
  // This filter goes first, since the session's filter forbids further ones.
  IPC_TRY(Install(ipc::OnlyItselfMayBeSignaled(getpid())));
  std::vector<sock_filter> filter = session_filter_;
  // bulkheadd may replace the filter in this memory by a longer one.
  filter.reserve(ipc::kRoomForFilter);
  IPC_TRY(Install(filter));
  // Last, since bulkheadd reads each filter in the memory of this process
  // before it allows the installation. In tier reduced it can read only the
  // memory of a dumpable process.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return Failed("cannot give up privileges");
  }
  return {};
}

ipc::Expected<void> Lockdown::InstallReaperFilter() const {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return Failed("cannot give up privileges");
  }
  return Install(reaper_filter_);
}

}  // namespace bulkhead::worker::lockdown
