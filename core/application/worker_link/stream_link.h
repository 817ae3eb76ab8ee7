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

// The parts that VideoLink and AudioLink share. Trust, failure and threads are
// as in WorkerLink.

// The latest play, that is, the latest request of a link for frames or samples.
// A new play ends the previous one. Replies to the previous play may still
// arrive; the link drops them after the ledger has recorded their slots.
struct CurrentPlay {
  uint32_t epoch = 0;    // the number of the play; 1 for the first
  bool playing = false;  // the play has not ended yet
};

// Opens a stream on the device of the link. `fill` adds the fields that only
// this kind of stream needs to the request, in at most `words` message words.
// `take` validates the answer. A reported failure is returned without `take`.
Status OpenStream(
    WorkerLink& link, worker_protocol::StreamOpening opening, size_t words,
    const std::function<void(ipc::schema::Open::Builder)>& fill,
    const std::function<Status(ipc::schema::Reply::Reader)>& take);

// Returns true if the reply belongs to `play`, false if it belongs to an
// earlier play. Kills the worker if the reply belongs to no play.
Result<bool> IsOf(const CurrentPlay& play, WorkerLink& link,
                  ipc::schema::Reply::Reader reply_untrusted);

}  // namespace bulkhead::worker_link
