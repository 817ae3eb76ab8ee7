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

// The common part of VideoLink and AudioLink: opens a stream, and decides to
// which play a reply belongs. A new play ends the previous one. Replies of the
// previous play may still be under way; they are dropped after the ledger has
// recorded the slots that they published. Trust, failure and threads are those
// of WorkerLink, which outlives the StreamLink.
class StreamLink {
 public:
  explicit StreamLink(WorkerLink& link) : link_(link) {}

  // Opens a stream on the device of the link. `fill` adds what only this kind
  // of stream has, in at most `words`. `take` validates the answer, unless the
  // answer is a failure.
  Status Open(StreamOpening opening, size_t words,
              const std::function<void(ipc::schema::Open::Builder)>& fill,
              const std::function<Status(ipc::schema::Reply::Reader)>& take);

  // Begins a new play and returns its number.
  uint32_t StartPlay();
  void EndPlay() { playing_ = false; }
  // Returns true if the reply belongs to the current play, false if it belongs
  // to an earlier play. Ends the worker if the reply belongs to no play.
  Result<bool> IsCurrent(ipc::schema::Reply::Reader reply_untrusted);

 private:
  WorkerLink& link_;
  uint32_t epoch_ = 0;
  bool playing_ = false;
};

}  // namespace bulkhead::session
