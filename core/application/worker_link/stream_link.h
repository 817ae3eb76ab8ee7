// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/status.h"
#include "core/worker_protocol/stream_opening.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// The common part of VideoLink and AudioLink. Trust, failure and threads are
// as in WorkerLink.

// The play that a link has asked for last. A new play ends the previous one.
// Replies of the previous play may still be under way; they are dropped after
// the ledger has recorded the slots that they published.
struct CurrentPlay {
  uint32_t epoch = 0;    // its number; of the first play 1
  bool playing = false;  // it has not come to its end
};

// Opens a stream on the device of the link. `fill` adds what only this kind of
// stream has, in at most `words`. `take` validates the answer, unless the
// answer is a failure.
Status OpenStream(
    WorkerLink& link, worker_protocol::StreamOpening opening, size_t words,
    const std::function<void(ipc::schema::Open::Builder)>& fill,
    const std::function<Status(ipc::schema::Reply::Reader)>& take);

// Returns true if the reply belongs to `play`, false if it belongs to an
// earlier play. Ends the worker if the reply belongs to no play.
Result<bool> IsOf(const CurrentPlay& play, WorkerLink& link,
                  ipc::schema::Reply::Reader reply_untrusted);

}  // namespace bulkhead::worker_link
