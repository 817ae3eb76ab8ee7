// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/interruption.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace bulkhead::cli::conformance {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// The write end of the pipe. The handler writes the number of the signal, the
// destructor 0, which ends the thread.
volatile sig_atomic_t write_end = -1;

void WriteToPipe(int signal) {
  const int saved = errno;
  const auto number = static_cast<unsigned char>(signal);
  (void)!write(write_end, &number, 1);
  errno = saved;
}

void Handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace

Interruption::Interruption(std::string directory)
    : directory_(std::move(directory)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  read_end_ = ends[0];
  write_end = ends[1];
  thread_ = std::thread([this] { Wait(); });
  Handle(WriteToPipe);
}

Interruption::~Interruption() {
  if (!thread_.joinable()) return;
  Handle(SIG_DFL);
  WriteToPipe(0);
  thread_.join();
  close(write_end);
  close(read_end_);
}

void Interruption::Wait() const {
  unsigned char signal = 0;
  while (read(read_end_, &signal, 1) < 0 && errno == EINTR) {
  }
  if (signal == 0) return;
  // Repeated, because a running check may create a file while the directory is
  // removed.
  constexpr int kTimes = 3;
  for (int i = 0; i < kTimes; ++i) {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Handle(SIG_DFL);
  kill(getpid(), signal);
}

}  // namespace bulkhead::cli::conformance
