// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/stream_link.h"
#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/host_options.h"
#include "core/worker_protocol/audio_validation.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::session {

// Samples in a slot that the ledger accepted: `count` floats a channel.
struct PublishedSamples {
  std::shared_ptr<FrameLease> lease;
  uint32_t count;
};
struct SamplesEnd {
  bool of_stream;  // else of what was asked for
};
using AudioEvent = std::variant<PublishedSamples, SamplesEnd>;

// What an audio session and its worker say to each other: the host's side of
// the requests of ipc/schema/session.capnp for a stream of audio. Trust,
// failure and threads are those of WorkerLink, which outlives it.
class AudioLink {
 public:
  explicit AudioLink(WorkerLink& link) : link_(link), stream_(link) {}

  Result<OpenedAudio> Open(const AudioOptions& options, uint32_t incarnation,
                           const Limits& limits, const MediaInput& input);
  // The pool is attached.
  Status Play(int64_t first_sample, int64_t count);
  // Grants free slots and waits for the next event of the last Play. A worker
  // that is still on its way to the first sample has as long as it says each
  // time that another second of the stream is behind it.
  Result<AudioEvent> Await();

 private:
  // One reply of a play; empty if it belongs to an earlier one or only tells
  // how far it is.
  Result<std::optional<AudioEvent>> AdoptEventIfValid(
      ipc::schema::Reply::Reader reply_untrusted, bool* nearer);
  Result<PublishedSamples> AdoptSamplesIfValid(
      ipc::schema::PublishedSamples::Reader samples_untrusted);
  Status CheckSkipping(int64_t reached_untrusted);

  WorkerLink& link_;
  StreamLink stream_;
  // Of what is published; fixed by Open.
  uint32_t sample_rate_ = 0;
  uint32_t channels_ = 0;
  // What is left of the last Play: its answer must keep to it.
  int64_t next_ = 0;
  int64_t end_ = 0;
  bool skipping_ = false;
  int64_t reached_ = 0;
};

}  // namespace bulkhead::session
