// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <optional>

#include "ipc/unique_fd.h"

namespace bulkhead::cli::top {

// Turns the signals that concern a full screen into something to read: those
// that end the program (SIGINT, SIGTERM, SIGHUP, SIGQUIT), SIGTSTP and
// SIGWINCH. Without that they would end or stop the program with the terminal
// in the state of the full screen, or run the handlers of ncurses at any time.
//
// The constructor blocks the signals in the thread that calls it, and so in all
// threads that it starts later; construct it before any other thread, and
// before ncurses starts, which would lose a SIGTSTP that comes while it draws.
// The destructor restores the mask and the action of SIGTSTP. Not thread-safe.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  // Readable while a signal waits.
  int fd() const { return fd_.get(); }
  // Returns the number of a signal that has arrived; nullopt if there is none.
  std::optional<int> Take();
  // Stops the process, as SIGTSTP does by default, and returns once it is
  // continued.
  void Stop();

 private:
  sigset_t before_;
  struct sigaction stop_before_;
  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::cli::top
