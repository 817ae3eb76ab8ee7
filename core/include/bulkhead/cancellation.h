// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "bulkhead/status.h"

namespace bulkhead {

namespace supervisor_link {
class CancelSignal;
}

// Ends a call that waits, from another thread or from a signal handler. For
// calls that have no decoder yet: give one to Host::OpenVideo, Host::OpenAudio
// or Host::Probe in their options.
//
//     auto cancellation = Cancellation::Create().value();
//     std::thread opener([&] {
//       auto video = host->OpenVideo(upload, {.cancellation = cancellation});
//     });
//     cancellation.Cancel();  // OpenVideo returns kCancelled
//
// Each Cancel() ends one call with kCancelled: the one that is under way, or
// else the next one, so that no Cancel() comes too early or too late. Several
// before that call ends count as one. A call that is done before it notices
// returns its result, and the next call ends instead.
//
// A decoder keeps what it was opened with: from then on Cancel() here and
// Cancel() of the decoder are the same. So use one Cancellation for one decoder
// or one call of Probe at a time.
//
// How soon. A call notices while it waits for a worker or for bulkheadd. Other
// than that it may wait for a reader of the application, which it calls no
// further, and for the end of a worker, at most Deadlines::close.
//
// Cancelling kills the worker of the step that was under way, since it may
// hang. That counts against neither the input nor the backend, and makes no
// record. A worker that serves several sessions is left alive, and what it
// still does for this one is thrown away. The decoder stays usable: its next
// call gets another worker and goes on with the frame or sample that was due.
//
// A handle: copies are the same Cancellation. Cancel() is thread-safe and
// async-signal-safe, and does nothing in a fork() of the process that made the
// Cancellation. Holds one descriptor.
class Cancellation {
 public:
  // kResourceExhausted if no descriptor is left.
  static Result<Cancellation> Create();

  void Cancel() const;

 private:
  friend class supervisor_link::CancelSignal;

  explicit Cancellation(std::shared_ptr<supervisor_link::CancelSignal> signal)
      : signal_(std::move(signal)) {}

  std::shared_ptr<supervisor_link::CancelSignal> signal_;
};

}  // namespace bulkhead
