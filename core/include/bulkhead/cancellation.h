// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "bulkhead/status.h"

namespace bulkhead {

namespace supervisor_link {
class CancelSignal;
}

// A handle with which another thread or a signal handler ends a call that
// waits. Needed for calls that have no decoder yet: give it to Host::OpenVideo,
// Host::OpenAudio or Host::Probe in their options.
//
//     auto cancellation = Cancellation::Create().value();
//     std::thread opener([&] {
//       auto video = host->OpenVideo(upload, {.cancellation = cancellation});
//     });
//     cancellation.Cancel();  // OpenVideo returns kCancelled
//
// Each Cancel() ends exactly one call with kCancelled: the call that is under
// way or, if there is none, the next one. So no Cancel() comes too early or too
// late. Several Cancel() before that call ends count as one. A call that
// finishes before it notices the Cancel() returns its result, and the next call
// ends instead.
//
// A decoder keeps the Cancellation that it was opened with: from then on
// Cancellation::Cancel() and Cancel() of the decoder do the same. So use one
// Cancellation for one decoder or one call of Probe at a time.
//
// Delay. A call notices a Cancel() while it waits for a worker or for
// bulkheadd. Before it returns, it may have to wait for two things: until a
// SourceReader of the application has finished the present read (no other read
// is started), and, for at most Deadlines::close, until a worker has ended.
//
// Cancelling kills the worker of the step that was under way, since it may
// hang. That counts against neither the input nor the backend, and makes no
// crash record. A worker that serves several sessions is left alive, and its
// remaining work for this session is thrown away. The decoder stays usable: its
// next call gets another worker and continues with the frame or sample that was
// due.
//
// Copies are handles of the same Cancellation. Cancel() is thread-safe and
// async-signal-safe, and does nothing in a forked child of the process that
// made the Cancellation. Holds no descriptor while no call waits.
class Cancellation {
 public:
  // Makes a Cancellation. Does not fail in this version.
  static Result<Cancellation> Create();

  void Cancel() const;

 private:
  friend class supervisor_link::CancelSignal;

  explicit Cancellation(std::shared_ptr<supervisor_link::CancelSignal> signal)
      : signal_(std::move(signal)) {}

  std::shared_ptr<supervisor_link::CancelSignal> signal_;
};

}  // namespace bulkhead
