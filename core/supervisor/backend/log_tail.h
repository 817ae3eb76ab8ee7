// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>

#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::supervisor {

// The last lines that the processes of one incarnation wrote to their stderr,
// which is a pipe. The text is cleaned for people; the first line may be cut
// off.
//
// The writers are hostile. A process that writes without end blocks on its full
// pipe. It costs bulkheadd one read every few milliseconds and no memory beyond
// the tail. Bound to the event loop's thread.
class LogTail {
 public:
  LogTail(kj::UnixEventPort& port, ipc::UniqueFd pipe);
  KJ_DISALLOW_COPY(LogTail);

  // Reads as long as any process can write. Destroy the promise before this
  // object.
  kj::Promise<void> Drain();
  // Reads once, without waiting. Returns whether there was anything to read.
  bool Read();
  const std::string& text() const { return text_; }

 private:
  kj::Timer& timer_;
  const ipc::UniqueFd pipe_;
  kj::UnixEventPort::FdObserver observer_;
  std::string text_;
  bool ended_ = false;
};

}  // namespace bulkhead::supervisor
