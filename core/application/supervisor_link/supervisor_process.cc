// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "core/base/application_limits.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"

#ifdef __SANITIZE_THREAD__
extern "C" int __clone(int (*)(void*), void*, int, void*, ...);
#endif

namespace bulkhead::supervisor_link {
namespace {

constexpr size_t kStackBytes = 64 * 1024;
constexpr int kControlFd = 3;
constexpr int kLifelineFd = 4;
constexpr int kFirstOther = kLifelineFd + 1;

// The data of one start. Both clones run in the address space of the
// application. They read the data, and write the last two members.
struct Spawn {
  const char* path;
  int program_fd;
  char* const* argv;
  char* const* environment;
  int control_fd;
  int lifeline_fd;
  int null_fd;
  char* daemon_stack_top;
  volatile pid_t daemon_pid = 0;
  volatile int error = 0;
};

// Clones a process that shares the address space, as vfork() does. The caller
// sleeps until the clone has ended or executes a program.
int Clone(int (*function)(void*), char* stack_top, Spawn* spawn) {
  constexpr int kFlags = CLONE_VM | CLONE_VFORK;
#ifdef __SANITIZE_THREAD__
  // ThreadSanitizer intercepts clone() as if it were fork(), and then no longer
  // watches the calling thread. It does not intercept __clone().
  return ::__clone(function, stack_top, kFlags, spawn);
#else
  return ::clone(function, stack_top, kFlags, spawn);
#endif
}

// Ends a clone. A plain _exit() would make a sanitizer report the memory that
// the application has not freed.
[[noreturn]] void EndClone(int code) {
  for (;;) ::syscall(SYS_exit_group, code);
}

// Makes `to` a copy of a different descriptor `from`, as dup2() does, in a
// clone. ThreadSanitizer sees dup2(), but not that a clone calls it. It would
// take the numbers for descriptors of the application.
int Duplicate(int from, int to) {
  return static_cast<int>(::syscall(SYS_dup3, from, to, 0));
}

// Runs in the inner clone, which becomes bulkheadd.
int RunDaemon(void* argument) {
  auto* spawn = static_cast<Spawn*>(argument);
  ::setsid();
  // Moves the descriptors to higher numbers first: in an application that has
  // closed its standard descriptors they may have the numbers 0 to 4. A stderr
  // that is closed or close-on-exec (F_GETFD is not 0) becomes /dev/null.
  const int control = ::fcntl(spawn->control_fd, F_DUPFD, kFirstOther);
  const int lifeline = ::fcntl(spawn->lifeline_fd, F_DUPFD, kFirstOther);
  const int null = ::fcntl(spawn->null_fd, F_DUPFD, kFirstOther);
  const int program =
      spawn->program_fd < 0
          ? -1
          : ::fcntl(spawn->program_fd, F_DUPFD_CLOEXEC, kFirstOther);
  if (control < 0 || lifeline < 0 || null < 0 ||
      Duplicate(null, STDIN_FILENO) < 0 || Duplicate(null, STDOUT_FILENO) < 0 ||
      (::fcntl(STDERR_FILENO, F_GETFD) != 0 &&
       Duplicate(null, STDERR_FILENO) < 0) ||
      Duplicate(control, kControlFd) < 0 ||
      Duplicate(lifeline, kLifelineFd) < 0) {
    spawn->error = errno;
    EndClone(127);
  }
  // Closes all descriptors above the lifeline except the program, which is
  // close-on-exec.
  if (program > kFirstOther) {
    ::syscall(SYS_close_range, kFirstOther, program - 1, 0U);
  }
  ::syscall(SYS_close_range, std::max(program, kLifelineFd) + 1, ~0U, 0U);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (program >= 0) {
    ::syscall(SYS_execveat, program, "", spawn->argv, spawn->environment,
              AT_EMPTY_PATH);
  }
  // ENOENT means that the program is a script: its interpreter would open it by
  // the descriptor, which exec has closed. So it is started by its path.
  if (program < 0 || errno == ENOENT) {
    ::execve(spawn->path, spawn->argv, spawn->environment);
  }
  spawn->error = errno;
  EndClone(127);
}

// Runs in the outer clone, which starts the inner one and ends at once, so that
// the application is not the parent of bulkheadd.
int RunIntermediate(void* argument) {
  auto* spawn = static_cast<Spawn*>(argument);
  // Returns once the inner clone has executed bulkheadd or failed.
  const int pid = Clone(RunDaemon, spawn->daemon_stack_top, spawn);
  if (pid < 0) spawn->error = errno;
  spawn->daemon_pid = pid;
  EndClone(0);
}

// The fewest descriptors with which bulkheadd can at least report that it lacks
// descriptors.
constexpr rlim_t kFewestFiles = 32;

// Checks the hard limit on open files. bulkheadd inherits the limits of the
// application, and raises the soft ones to the hard ones.
Status CheckFileLimit() {
  rlimit files;
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 ||
      files.rlim_max >= kFewestFiles) {
    return Status();
  }
  return Status(Code::kResourceExhausted,
                "this process may have only " + std::to_string(files.rlim_max) +
                    " files open at a time, too few to start bulkheadd; raise "
                    "the limit on open files (ulimit -n)");
}

// Returns the error of a call that could not open `what`, by errno.
Status CannotOpen(const std::string& what) {
  const int error = errno;
  return Status(
      error == EMFILE || error == ENFILE ? Code::kResourceExhausted
                                         : Code::kInternal,
      "cannot open " + what + ": " + std::generic_category().message(error));
}

// Returns both ends of a pipe: the end for bulkheadd, and the application's
// end, whose number is 3 or higher.
Result<std::pair<ipc::UniqueFd, ipc::UniqueFd>> MakeLifeline() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return CannotOpen("a pipe");
  ipc::UniqueFd theirs(ends[0]);
  ipc::UniqueFd low(ends[1]);
  if (low.get() > STDERR_FILENO) {
    return std::pair(std::move(theirs), std::move(low));
  }
  // The application has closed a standard descriptor, and the end has got its
  // number. The application may replace this descriptor later, so the end is
  // moved to a higher number.
  ipc::UniqueFd ours(::fcntl(low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!ours) return CannotOpen("a pipe");
  return std::pair(std::move(theirs), std::move(ours));
}

Status CannotStart(const std::string& path, int error) {
  const std::string message = "cannot start the supervisor " + path + ": " +
                              std::generic_category().message(error);
  switch (error) {
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return NamingLimits(Status(Code::kResourceExhausted, message));
    case EACCES:
      return Status(Code::kBackendUnavailable,
                    message +
                        "; it is not executable, or a directory above it "
                        "is closed to this user");
    default:
      return Status(
          error == ENOENT ? Code::kNotFound : Code::kBackendUnavailable,
          message +
              "; name the directory of bulkheadd with libexec_dir (--libexec "
              "DIR) or BULKHEAD_LIBEXEC_DIR");
  }
}

}  // namespace

Result<SupervisorProcess> StartSupervisor(const std::string& path,
                                          int program) {
  RETURN_IF_ERROR(CheckFileLimit());
  ASSIGN_OR_RETURN(auto sockets, FromIpc(ipc::MakeSocketPair()));
  const ipc::UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return CannotOpen("/dev/null");
  ASSIGN_OR_RETURN(auto lifeline, MakeLifeline());

  std::string pid_text = std::to_string(::getpid());
  std::string name = "bulkheadd";
  std::string flag = "--host";
  char* const argv[] = {name.data(), flag.data(), pid_text.data(), nullptr};
  std::string locale = "LC_ALL=C.UTF-8";
  char* const environment[] = {locale.data(), nullptr};
  auto stacks = std::make_unique<char[]>(2 * kStackBytes);
  Spawn spawn{.path = path.c_str(),
              .program_fd = program,
              .argv = argv,
              .environment = environment,
              .control_fd = sockets.second.get(),
              .lifeline_fd = lifeline.first.get(),
              .null_fd = null.get(),
              .daemon_stack_top = stacks.get() + 2 * kStackBytes};

  // A signal handler of the application must not run on the small stack of a
  // clone.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int pid = Clone(RunIntermediate, stacks.get() + kStackBytes, &spawn);
  const int clone_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return CannotStart(path, clone_error);
  // Reaps the outer clone, which has ended.
  while (::waitpid(pid, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  if (spawn.error != 0) return CannotStart(path, spawn.error);
  // The pidfd is for ReapIfChild(). If no descriptor is left, bulkheadd is
  // never reaped.
  ipc::UniqueFd pidfd(
      static_cast<int>(::syscall(SYS_pidfd_open, spawn.daemon_pid, 0)));
  return SupervisorProcess{spawn.daemon_pid, std::move(sockets.first),
                           std::move(lifeline.second), std::move(pidfd)};
}

void ReapIfChild(const SupervisorProcess& process,
                 std::chrono::milliseconds patience) {
  constexpr auto kPidfd = static_cast<idtype_t>(P_PIDFD);
  const auto id = static_cast<id_t>(process.pidfd.get());
  if (!process.pidfd) return;
  siginfo_t ended = {};
  // This call fails if bulkheadd is not a child. If it has ended, reaps it.
  if (::waitid(kPidfd, id, &ended, WEXITED | WNOHANG | __WALL) != 0) return;
  if (ended.si_pid != 0) return;
  const ipc::Deadline deadline = ipc::Deadline::After(patience);
  pollfd poll = {.fd = process.pidfd.get(), .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    const timespec left = deadline.remaining_timespec();
    ready = ::ppoll(&poll, 1, &left, nullptr);
  } while (ready < 0 && errno == EINTR);
  if (ready > 0) ::waitid(kPidfd, id, &ended, WEXITED | WNOHANG | __WALL);
}

}  // namespace bulkhead::supervisor_link
