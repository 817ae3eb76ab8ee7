// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>

#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::records {

// The last lines that processes of one incarnation wrote to their stderr, which
// is a sandbox::LogSocket. The text is made safe for a terminal. The first line
// may be cut off.
//
// A process that has media may write parts of it to its stderr. So a worker
// gets a log of its own before it gets media. Where bulkheadd cannot replace
// its stderr, all processes write to the same log, and nobody knows who wrote a
// line. Therefore a log is divided by time: text() was written before any
// process had media, media_text() afterwards.
//
//     tail.ExpectMedia();  // Before a worker gets any media.
//     ... tail.text() and tail.media_text() ...
//
// The writers are hostile. Output that does not fit into the socket is lost. A
// process that writes all the time costs bulkheadd one read every few
// milliseconds, and no memory beyond the two texts. Bound to the event loop's
// thread.
class LogTail {
 public:
  LogTail(kj::UnixEventPort& port, ipc::UniqueFd fd);
  KJ_DISALLOW_COPY(LogTail);

  // Reads all output; resolves once no process can write any more. Destroy the
  // promise before this object.
  kj::Promise<void> Drain();
  // Reads once, without waiting. Returns whether there was anything to read.
  bool Read();
  // Reads into text() the output that is in the socket, at most one full
  // socket, even if a process writes all the time. All later output goes to
  // media_text(). Call it before any process of the incarnation gets media;
  // further calls do nothing.
  void ExpectMedia();
  bool expects_media() const { return expects_media_; }
  // The end of the output before ExpectMedia().
  const std::string& text() const { return text_; }
  // The end of the output since then, which may contain parts of the media.
  const std::string& media_text() const { return media_text_; }

 private:
  kj::Timer& timer_;
  const ipc::UniqueFd fd_;
  kj::UnixEventPort::FdObserver observer_;
  std::string text_;
  std::string media_text_;
  bool expects_media_ = false;
  bool ended_ = false;  // no process can write any more
};

}  // namespace bulkhead::records
