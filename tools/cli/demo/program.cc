// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/demo/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bulkhead::cli::demo {
namespace {

using Clock = std::chrono::steady_clock;

// Waits for the end of the child. Returns false if the deadline passed first.
bool AwaitEnd(pid_t pid, Clock::time_point deadline) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) return false;
  int ready;
  do {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - Clock::now());
    pollfd ended = {pidfd, POLLIN, 0};
    ready =
        poll(&ended, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  close(pidfd);
  return ready == 1;
}

}  // namespace

Status RunProgram(const std::vector<std::string>& arguments,
                  std::chrono::milliseconds limit) {
  const std::string& name = arguments.front();
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  // This program ignores SIGPIPE. The child would inherit that, so its action
  // is reset.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t reset;
  sigemptyset(&reset);
  sigaddset(&reset, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &reset);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, name.c_str(), &files, &attributes,
                                 argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    return Status(Code::kNotFound,
                  fmt::format("cannot run {}: {}", name,
                              std::generic_category().message(error)));
  }

  const bool ended = AwaitEnd(pid, Clock::now() + limit);
  if (!ended) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    return Status(Code::kDeadlineExceeded,
                  fmt::format("{} took longer than {} s and was killed", name,
                              limit.count() / 1000));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return Status();
  return Status(Code::kInternal,
                WIFEXITED(status) ? fmt::format("{} failed with exit status {}",
                                                name, WEXITSTATUS(status))
                                  : fmt::format("{} was killed by signal {}",
                                                name, WTERMSIG(status)));
}

}  // namespace bulkhead::cli::demo
