// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "core/supervisor/supervisor.h"

namespace {

constexpr int kControlFd = 3;
constexpr int kLifelineFd = 4;

// Makes the kernel send SIGCONT to this process when the application closes its
// end of the lifeline, a pipe, or ends. Otherwise a bulkheadd that somebody has
// stopped would outlive the application for ever. Returns false if descriptor 4
// is no pipe.
bool WatchLifeline() {
  return ::fcntl(kLifelineFd, F_SETFD, FD_CLOEXEC) == 0 &&
         ::fcntl(kLifelineFd, F_SETOWN, ::getpid()) == 0 &&
         ::fcntl(kLifelineFd, F_SETSIG, SIGCONT) == 0 &&
         ::fcntl(kLifelineFd, F_SETFL, O_ASYNC) == 0;
}

}  // namespace

// Runs bulkheadd, which libbulkhead starts: descriptor 3 is the socket to the
// application, descriptor 4 the lifeline.
int main(int argc, char** argv) {
  CLI::App app(
      "bulkheadd starts, watches and replaces the decoding backends of one "
      "application.\nIt is started by libbulkhead; there is no use in running "
      "it by hand.",
      "bulkheadd");
  int host = 0;
  app.add_option("--host", host,
                 "pid of the application, as operators are told it")
      ->required();
  CLI11_PARSE(app, argc, argv);

  // libbulkhead executes this program through a descriptor, so the kernel has
  // named the process after the descriptor's number.
  ::prctl(PR_SET_NAME, "bulkheadd");
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGIO, SIG_IGN);  // sent when a lease breaks (file_settling.h)
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGXFSZ, SIG_IGN);  // a record beyond RLIMIT_FSIZE fails instead
  // Raises soft limits to the hard ones: of open files, which each stream
  // needs, and of processor time, where SIGXCPU would end the process.
  for (const auto resource : {RLIMIT_NOFILE, RLIMIT_CPU}) {
    rlimit limit;
    if (::getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(resource, &limit);
  }

  if (::fcntl(kControlFd, F_SETFD, FD_CLOEXEC) != 0 || !WatchLifeline()) {
    std::cerr << "bulkheadd: descriptors 3 and 4 are not the application's "
                 "socket and pipe; let libbulkhead of the same release start "
                 "it\n";
    return 2;
  }
  kj::UnixEventPort port;
  kj::EventLoop loop(port);
  kj::WaitScope scope(loop);
  bulkhead::supervisor::Supervisor supervisor(
      port, bulkhead::ipc::UniqueFd(kControlFd), host);
  supervisor.Run().wait(scope);
  return 0;
}
