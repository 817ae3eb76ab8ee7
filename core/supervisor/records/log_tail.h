// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>

#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::records {

// The last lines that processes of one incarnation wrote to their stderr, which
// is a sandbox::LogSocket. The text is cleaned for people; the first line may
// be cut off.
//
// A process that was given media may write parts of it. A worker has a log of
// its own from then on. Where the kernel cannot give it one, all processes
// write to the same log, and nobody knows who wrote a line. Hence the time
// divides the text: what was written before any process had media, and what was
// written afterwards, whoever wrote it.
//
//     tail.ExpectMedia();  // Before a worker gets any media.
//     ... tail.text() and tail.media_text() ...
//
// The writers are hostile. What a process writes to a full log is lost. It
// costs bulkheadd one read every few milliseconds and no memory beyond the two
// tails. Bound to the event loop's thread.
class LogTail {
 public:
  LogTail(kj::UnixEventPort& port, ipc::UniqueFd fd);
  KJ_DISALLOW_COPY(LogTail);

  // Reads as long as any process can write. Destroy the promise before this
  // object.
  kj::Promise<void> Drain();
  // Reads once, without waiting. Returns whether there was anything to read.
  bool Read();
  // Divides the text: what is not in the socket yet goes to media_text(). What
  // is in the socket and exceeds a full socket goes there too. Does nothing if
  // called again. Call it before any process of the incarnation is given media.
  void ExpectMedia();
  bool expects_media() const { return expects_media_; }
  // Returns what was written before ExpectMedia().
  const std::string& text() const { return text_; }
  // Returns what was written since, which may contain parts of the media.
  const std::string& media_text() const { return media_text_; }

 private:
  kj::Timer& timer_;
  const ipc::UniqueFd fd_;
  kj::UnixEventPort::FdObserver observer_;
  std::string text_;
  std::string media_text_;
  bool expects_media_ = false;
  bool ended_ = false;
};

}  // namespace bulkhead::records
