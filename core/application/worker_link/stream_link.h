// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/status.h"
#include "core/worker_protocol/stream_opening.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::session {

// What VideoLink and AudioLink have in common: opening a stream, and telling to
// which play a reply belongs. A new play ends the one before, whose replies may
// still be under way: such replies are dropped, after the slots that they
// published were accounted for. Trust, failure and threads are those of
// WorkerLink, which outlives the StreamLink.
class StreamLink {
 public:
  explicit StreamLink(WorkerLink& link) : link_(link) {}

  // Opens a stream; the device is that of the link. `fill` adds what only this
  // kind of stream has, in at most `words`. `take` validates the answer, unless
  // the answer is a failure.
  Status Open(StreamOpening opening, size_t words,
              const std::function<void(ipc::schema::Open::Builder)>& fill,
              const std::function<Status(ipc::schema::Reply::Reader)>& take);

  // Begins a new play and returns its number.
  uint32_t StartPlay();
  void EndPlay() { playing_ = false; }
  // Returns true if the reply belongs to the play that goes on, false if it
  // belongs to an earlier one. Ends the worker if it belongs to none.
  Result<bool> IsCurrent(ipc::schema::Reply::Reader reply_untrusted);

 private:
  WorkerLink& link_;
  uint32_t epoch_ = 0;
  bool playing_ = false;
};

}  // namespace bulkhead::session
