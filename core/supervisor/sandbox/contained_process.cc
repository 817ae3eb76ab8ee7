// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/contained_process.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status_macros.h"
#include "core/supervisor/sandbox/errno_status.h"
#include "core/supervisor/sandbox/new_root.h"
#include "ipc/limit_name.h"

namespace bulkhead::sandbox {
namespace {

constexpr int kNamespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                            CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
// The user and group id inside every sandbox. Any number but 0 is possible: id
// 0 would regain capabilities on exec.
constexpr uint32_t kInsideId = 1000;
constexpr char kHostName[] = "bulkhead";
constexpr size_t kMaxReasonBytes = 1024;
// The first byte of the reason that a child sends, for the code of its Status:
// kResourceExhausted or kSandboxUnavailable.
constexpr char kRanOut = 'E';
constexpr char kRefused = 'R';

Status Failed(const std::string& what) { return SandboxStepFailed(what); }

Status WriteProcFile(pid_t pid, const char* name, const std::string& content) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const ipc::UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  // One write is enough: the kernel takes such a file as a whole or not at all.
  if (!file || write(file.get(), content.data(), content.size()) < 0) {
    return Failed("cannot write " + path);
  }
  return Status();
}

// Makes the kernel kill a backend rather than the application when memory runs
// out: a worker can be replaced. Raising the value needs no privilege. A /proc
// that cannot be written is no error, since nothing depends on the value.
void PreferForOutOfMemoryKill(pid_t pid) {
  constexpr int kMore = 500;
  constexpr int kMost = 1000;
  int own = 0;
  std::ifstream("/proc/self/oom_score_adj") >> own;
  (void)WriteProcFile(pid, "oom_score_adj",
                      std::to_string(std::min(own + kMore, kMost)));
}

// Maps kInsideId in the user namespace of `pid` to `outside_id`, or without it
// to the ids of this process.
Status MapIds(pid_t pid, std::optional<uint32_t> outside_id) {
  const auto map = [](uint32_t outside) {
    return std::to_string(kInsideId) + " " + std::to_string(outside) + " 1";
  };
  // An unprivileged caller may write a gid_map only after denying setgroups. A
  // privileged caller must not deny it: the child still has to drop the
  // supplementary groups.
  if (!outside_id) RETURN_IF_ERROR(WriteProcFile(pid, "setgroups", "deny"));
  RETURN_IF_ERROR(
      WriteProcFile(pid, "uid_map", map(outside_id.value_or(geteuid()))));
  return WriteProcFile(pid, "gid_map", map(outside_id.value_or(getegid())));
}

Status TakeIds(uint32_t id, bool drop_groups) {
  // Groups first: the change of the user id takes away the right to drop them.
  if (drop_groups && setgroups(0, nullptr) != 0) {
    return Failed("cannot drop supplementary groups");
  }
  if (setresgid(id, id, id) != 0 || setresuid(id, id, id) != 0) {
    return Failed("cannot take the id " + std::to_string(id));
  }
  return Status();
}

// Sets the soft and the hard limit to `value`, or to a lower hard limit.
Status Limit(__rlimit_resource resource, uint64_t value) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) {
    return Failed("cannot read a resource limit");
  }
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value);
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(resource, &limit) != 0) {
    return Failed("cannot set a resource limit");
  }
  return Status();
}

// Sets the limits that hold before exec; that of tasks only if `count_tasks`.
Status SetLimits(const Limits& limits, bool count_tasks) {
  // With a limit of 0, the kernel still starts the program that core_pattern
  // may name and passes the backend's memory to it. With a limit of 1 it does
  // not, and no core file fits either.
  RETURN_IF_ERROR(Limit(RLIMIT_CORE, 1));
  RETURN_IF_ERROR(Limit(RLIMIT_STACK, limits.stack_bytes));
  RETURN_IF_ERROR(Limit(RLIMIT_FSIZE, limits.file_bytes));
  // libgcrypt, which libavformat uses, locks this much before main(). With less
  // it would print a warning into every backend's log.
  RETURN_IF_ERROR(Limit(RLIMIT_MEMLOCK, 64 * 1024));
  // Raises the soft limit to the hard one. At the soft limit, SIGXCPU would end
  // a backend, which looks like a crash; at the hard limit, SIGKILL ends it.
  RETURN_IF_ERROR(Limit(RLIMIT_CPU, RLIM_INFINITY));
  RETURN_IF_ERROR(Limit(RLIMIT_MSGQUEUE, 0));
  RETURN_IF_ERROR(Limit(RLIMIT_NICE, 0));
  RETURN_IF_ERROR(Limit(RLIMIT_RTPRIO, 0));
  return count_tasks ? Limit(RLIMIT_NPROC, limits.tasks) : Status();
}

Status EmptyBoundingSet() {
  // PR_CAPBSET_READ fails at the first number that the kernel does not know.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
       ++capability) {
    // EPERM means that the caller is unprivileged and in no new user namespace.
    // no_new_privs then keeps the capabilities of the set out of reach.
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM) {
      return Failed("cannot drop a capability from the bounding set");
    }
  }
  return Status();
}

Status DropCapabilities() {
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    return Failed("cannot drop ambient capabilities");
  }
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none = {};
  if (syscall(SYS_capset, &header, none.data()) != 0) {
    return Failed("cannot drop capabilities");
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Failed("cannot set no_new_privs");
  }
  return Status();
}

// Undoes bulkheadd's signal handlers, ignored signals and signal mask, which
// the child has inherited. Ignored signals and the mask would survive exec.
void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Raises the soft limit to the hard one: opening the visible paths takes a
// descriptor for each. SetProgramLimits lowers it again.
Status RaiseOpenFiles() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Failed("cannot read a resource limit");
  }
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Failed("cannot raise the limit of open files");
  }
  return Status();
}

// Finishes the namespaces that the clone has made: ids, root and host name.
Status EnterNamespaces(const Containment& containment) {
  const std::vector<VisiblePath>& visible = containment.policy.visible;
  // new_root.h explains this order.
  ASSIGN_OR_RETURN(const std::vector<ipc::UniqueFd> mounts,
                   OpenVisible(visible));
  RETURN_IF_ERROR(TakeIds(kInsideId, containment.outside_id.has_value()));
  RETURN_IF_ERROR(EnterNewRoot(visible, mounts));
  // A failure is no error: profiles of containers may refuse this call and
  // allow all of the above. Then uname() returns the name of the host.
  [[maybe_unused]] const int refused =
      sethostname(kHostName, sizeof(kHostName) - 1);
  return Status();
}

// Restricts this process, the child, as contained_process.h describes. The
// order matters, since some steps need privileges that later steps give up.
Status Contain(const Containment& containment, int setup) {
  ResetSignals();
  if (setsid() < 0) return Failed("cannot start a session");
  RETURN_IF_ERROR(RaiseOpenFiles());
  // Before the ids change: outside of a user namespace, the change takes the
  // right to empty the bounding set.
  RETURN_IF_ERROR(EmptyBoundingSet());
  const bool full = containment.tier == Tier::kFull;
  if (full) {
    RETURN_IF_ERROR(EnterNamespaces(containment));
  } else if (containment.outside_id) {
    RETURN_IF_ERROR(TakeIds(*containment.outside_id, true));
  }
  // The application's working directory would be visible to the backend.
  if (!full && chdir("/") != 0) {
    return Failed("cannot change to the directory /");
  }
  umask(0077);
  // After the new root was built, which needs capabilities.
  RETURN_IF_ERROR(DropCapabilities());
  // RLIMIT_NPROC counts the processes of one user id in one user namespace. If
  // the backend shares both with the user's other processes, they would count.
  RETURN_IF_ERROR(SetLimits(containment.policy.limits,
                            full || containment.outside_id.has_value()));
  if (full) {
    // After the change of ids, which clears the signal. Not in tier reduced,
    // where the reaper must outlive bulkheadd to kill its children.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
      return Failed("cannot set the parent-death signal");
    }
  }
  // The parent may have died before the parent-death signal was set. Its end of
  // the socket is closed then.
  char byte;
  if (recv(setup, &byte, 1, MSG_DONTWAIT) == 0) _exit(1);
  return Status();
}

// Runs the child: enters the sandbox, then calls `enter`.
[[noreturn]] void RunChild(const Containment& containment, int setup,
                           const std::function<Status(int)>& enter) {
  // Waits until the parent has mapped the ids and moved this process into the
  // cgroup.
  char go;
  if (recv(setup, &go, 1, 0) != 1) _exit(1);
  Status status = Contain(containment, setup);
  if (status.ok()) status = enter(setup);
  if (status.ok()) status = Status(Code::kInternal, "the child returned");
  EndWithReason(setup, status);
}

// Waits until `enter` has succeeded or failed. The end of file means success,
// since exec has closed the socket. A message is the reason for a failure.
Status AwaitEntered(int setup, ipc::Deadline deadline) {
  pollfd wait = {.fd = setup, .events = POLLIN, .revents = 0};
  int ready;
  do {
    const timespec left = deadline.remaining_timespec();
    ready = ppoll(&wait, 1, &left, nullptr);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) {
    return Status(Code::kDeadlineExceeded,
                  "a sandbox was not ready within " +
                      ipc::DeadlineName("backend_start") +
                      "; raise that deadline, or relieve the machine if it is "
                      "overloaded");
  }
  std::array<char, kMaxReasonBytes> reason;
  const ssize_t bytes = recv(setup, reason.data(), reason.size(), MSG_DONTWAIT);
  if (bytes == 0) return Status();
  if (bytes < 0) {
    return ErrnoStatus(Code::kSandboxUnavailable,
                       "the child ended while it entered its sandbox");
  }
  return Status(reason[0] == kRanOut ? Code::kResourceExhausted
                                     : Code::kSandboxUnavailable,
                std::string(reason.data() + 1, static_cast<size_t>(bytes) - 1));
}

}  // namespace

void EndWithReason(int setup_fd, const Status& failure) {
  const std::string reason =
      (failure.code() == Code::kResourceExhausted ? kRanOut : kRefused) +
      failure.message();
  send(setup_fd, reason.data(), std::min(reason.size(), kMaxReasonBytes),
       MSG_NOSIGNAL);
  _exit(1);
}

Status SetProgramLimits(const Limits& limits) {
  RETURN_IF_ERROR(Limit(RLIMIT_AS, limits.address_space_bytes));
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Failed("cannot read a resource limit");
  }
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, limits.open_files);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return Failed("cannot limit open files");
  }
  return Status();
}

bool HasOwnHostName() {
  utsname name = {};
  return uname(&name) == 0 && std::string_view(name.nodename) == kHostName;
}

void KillAndReap(const ipc::UniqueFd& pidfd) {
  syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
  siginfo_t ended;
  while (waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &ended, WEXITED) !=
             0 &&
         errno == EINTR) {
  }
}

Result<ContainedProcess> StartContained(const Containment& containment,
                                        const std::function<Status(int)>& enter,
                                        ipc::Deadline deadline) {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return ErrnoStatus(Code::kResourceExhausted, "cannot make a socket pair");
  }
  ipc::UniqueFd ours(ends[0]);
  ipc::UniqueFd childs(ends[1]);

  const bool full = containment.tier == Tier::kFull;
  int raw_pidfd = -1;
  const long pid =
      syscall(SYS_clone, CLONE_PIDFD | SIGCHLD | (full ? kNamespaces : 0),
              nullptr, &raw_pidfd, nullptr, 0);
  if (pid < 0) return Failed("cannot clone a process into new namespaces");
  if (pid == 0) {
    ours.reset();
    RunChild(containment, childs.get(), enter);
  }
  childs.reset();
  ContainedProcess process{ipc::UniqueFd(raw_pidfd), static_cast<pid_t>(pid)};

  // Before the change of ids, after which the file belongs to another user.
  PreferForOutOfMemoryKill(process.pid);
  Status status = full ? MapIds(process.pid, containment.outside_id) : Status();
  // The child waits for a byte, so that it runs nothing without its ids and its
  // cgroup.
  if (status.ok() && containment.cgroup != nullptr) {
    status = containment.cgroup->Adopt(process.pid);
  }
  if (status.ok() && send(ours.get(), "", 1, MSG_NOSIGNAL) != 1) {
    status = Failed("the child ended before it entered its sandbox");
  }
  if (status.ok()) status = AwaitEntered(ours.get(), deadline);
  if (!status.ok()) {
    KillAndReap(process.pidfd);
    return status;
  }
  return process;
}

}  // namespace bulkhead::sandbox
