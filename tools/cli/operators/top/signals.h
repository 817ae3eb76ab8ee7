// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <optional>

#include "ipc/unique_fd.h"

namespace bulkhead::cli::top {

// Delivers the signals that concern a full screen through a descriptor (a
// signalfd): the signals that end the program (SIGINT, SIGTERM, SIGHUP,
// SIGQUIT), SIGTSTP and SIGWINCH. Delivered the usual way, they would end or
// stop the program without restoring the terminal, or run handlers of ncurses
// at any time.
//
// The constructor blocks the signals in the calling thread and in all threads
// that this thread starts later. So construct the object before other threads
// start. Construct it also before ncurses starts. Otherwise ncurses ignores
// SIGTSTP while it draws, and a ^Z is lost. The destructor restores the signal
// mask and the action of SIGTSTP. Not thread-safe.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  // The descriptor, readable while a signal waits.
  int fd() const { return fd_.get(); }
  // Returns the number of the next signal; nullopt if no signal waits.
  std::optional<int> Take();
  // Stops the process, as SIGTSTP does by default, and returns once it is
  // continued.
  void Stop();

 private:
  sigset_t before_;               // The former mask of the thread.
  struct sigaction stop_before_;  // The former action of SIGTSTP.
  ipc::UniqueFd fd_;
};

}  // namespace bulkhead::cli::top
