// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
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
#include "core/worker_protocol/step_deadline.h"
#include "ipc/loss.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker_link {

// No stream has so many samples, and the sum of two such numbers still fits.
inline constexpr int64_t kMostSamples = std::numeric_limits<int64_t>::max() / 4;

// Samples in a slot that the ledger accepted: channel after channel, `count`
// floats each.
struct PublishedSamples {
  std::shared_ptr<worker_protocol::FrameLease> lease;
  uint32_t count;
};
// The end of a play.
struct SamplesEnd {
  bool of_stream;  // true: the stream has ended; false: all samples came
};
using AudioEvent = std::variant<PublishedSamples, SamplesEnd, ipc::LostSamples>;

// The host's side of the conversation with a worker about a stream of audio:
// the requests of ipc/schema/session.capnp that are for audio. Trust, failure
// and threads are as in WorkerLink, which outlives the AudioLink.
class AudioLink {
 public:
  explicit AudioLink(WorkerLink& link) : link_(link) {}

  Result<worker_protocol::OpenedAudio> Open(const AudioOptions& options,
                                            uint32_t incarnation,
                                            const Limits& limits,
                                            const MediaInput& input);
  // Asks for `count` samples from number `first_sample` on, and ends the
  // previous play. The pool must be attached.
  Status Play(int64_t first_sample, int64_t count);
  // Grants free slots and waits for the next event of the last play. The
  // deadline starts anew with each event but damage, and each time that the
  // worker reports another decoded second on the way to the first sample, as
  // long as the play has not used up the timeouts of one step
  // (StepDeadline::kMostTimeouts).
  Result<AudioEvent> Await();

 private:
  // Takes one reply to a play. Returns nullopt if the reply belongs to an
  // earlier play, or only reports how far the worker is; then *nearer is set.
  Result<std::optional<AudioEvent>> AdoptEventIfValid(
      ipc::schema::Reply::Reader reply_untrusted, bool* nearer);
  Result<PublishedSamples> AdoptSamplesIfValid(
      ipc::schema::PublishedSamples::Reader samples_untrusted);
  Status CheckSkipping(int64_t reached_untrusted);
  Result<ipc::LostSamples> AdoptLostIfValid(
      ipc::schema::LostSamples::Reader lost_untrusted);

  WorkerLink& link_;
  CurrentPlay play_;
  // The format of what the worker publishes; fixed by Open().
  int64_t media_bytes_ = 0;
  uint32_t sample_rate_ = 0;
  uint32_t channels_ = 0;
  // The samples that the worker still owes to the last play.
  int64_t next_ = 0;
  int64_t end_ = 0;
  int64_t lost_until_ = 0;  // the end of the damage that was reported
  bool skipping_ = false;   // the worker has reported how far it is
  int64_t reached_ = 0;     // the sample that the worker reported last
  std::optional<worker_protocol::StepDeadline>
      deadline_;              // of the play, from its first wait on
  bool told_damage_ = false;  // the last event was damage
};

}  // namespace bulkhead::worker_link
