// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/buffers.h"
#include "backends/worker/media/media_bytes.h"
#include "backends/worker/media/slot_pool.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/error.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker {

// What a stream works with; all of it outlives the stream.
struct StreamContext {
  const bulkhead_backend& backend;
  BufferProvider& buffers;
  HostReplies& replies;
  MediaBytes media;
};

// What a session worker serves: one stream of the media, opened by the host's
// first request (ipc/schema/session.capnp). Its functions are the requests that
// follow, and answer through the context's replies.
//
// An error that is returned is told to the host, and the stream can be asked
// again; kBackendLost ends the process, since the device is gone and a new
// worker may have it. One thread.
class Stream {
 public:
  virtual ~Stream() = default;

  // Answers with the index.
  virtual ipc::Expected<void> Scan() = 0;
  // Slots for what is decoded. None is granted yet.
  virtual void AttachPool(std::shared_ptr<SlotPool> pool) = 0;
  virtual void Grant(uint32_t slot, uint32_t generation) = 0;

  // Begins a play, which ends the one before. Advance() then goes on with it.
  virtual ipc::Expected<void> StartPlay(ipc::schema::Play::Reader play) = 0;
  // Whether Advance() has anything to do.
  virtual bool playing() const = 0;
  // One step of the play: answers it, skips, or ends it. False: nothing more is
  // possible before the next request, which may grant a slot.
  virtual ipc::Expected<bool> Advance() = 0;
  // After an error. Returns the epoch of the play that ends with it.
  virtual uint32_t AbandonPlay() = 0;
};

}  // namespace bulkhead::worker
