// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/decode/buffer_provider.h"
#include "backends/worker/media/decode/slot_pool.h"
#include "backends/worker/media/demux/media_bytes.h"
#include "backends/worker/session/host_replies.h"
#include "ipc/error.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {

// The objects that a stream borrows. All of them outlive the stream.
struct StreamContext {
  const bulkhead_backend& backend;
  decode::BufferProvider& buffers;
  HostReplies& replies;
  demux::MediaBytes media;
};

// One open stream of the media, served by a session worker. The host's `open`
// request creates the stream. The functions below serve the requests that
// follow (ipc/schema/session.capnp), and reply through the context. A play is
// the work of one `play` request: to publish frames or samples from one
// position on. Each play has a number, its epoch, which its replies carry.
//
// The session worker reports a returned error to the host, which may then send
// further requests. Two errors end the process instead, since a new worker may
// not have them: kBackendLost (the device is lost) and kBackendUnavailable (the
// backend failed). Used by the session's thread only.
class Stream {
 public:
  virtual ~Stream() = default;

  // Reads all packets and replies with the index of frames. Fails for audio.
  virtual ipc::Expected<void> Scan() = 0;
  // Sets the pool of slots for decoded data. The host has granted none of the
  // slots yet.
  virtual void AttachPool(std::shared_ptr<decode::SlotPool> pool) = 0;
  // Takes a slot that the host grants for output. `generation` is the number of
  // this grant among all grants of the slot.
  virtual void Grant(uint32_t slot, uint32_t generation) = 0;

  // Begins a play, which replaces the previous play. Advance() continues it.
  virtual ipc::Expected<void> StartPlay(ipc::schema::Play::Reader play) = 0;
  // Returns whether Advance() has anything to do.
  virtual bool playing() const = 0;
  // Makes one step of the play: publishes or skips some output, or ends the
  // play. Returns false if the stream needs another slot, so that the play
  // cannot go on before the next request, which may grant one.
  virtual ipc::Expected<bool> Advance() = 0;
  // Ends the play after an error. Returns the epoch of that play.
  virtual uint32_t AbandonPlay() = 0;
};

}  // namespace bulkhead::worker::session
