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

// A number of samples that no stream reaches. Sums of two numbers up to it do
// not overflow.
inline constexpr int64_t kMostSamples = std::numeric_limits<int64_t>::max() / 4;

// Samples that the worker published and the ledger of the pool accepted. The
// slot has `count` floats of the first channel, then of the next, and so on.
struct PublishedSamples {
  std::shared_ptr<worker_protocol::FrameLease> lease;
  uint32_t count;
};
// The end of a play (a request for samples, see Play()): all requested samples
// have come, or the stream has ended.
struct SamplesEnd {};
// An event of a play. Events come in the order of the stream.
using AudioEvent = std::variant<PublishedSamples, SamplesEnd, ipc::LostSamples>;

// The host's side of the conversation with a worker about an audio stream:
// opens the stream, asks for samples, and validates the replies. The messages
// are described in ipc/schema/session.capnp. Trust, failure and threads are as
// in WorkerLink, which outlives the AudioLink.
class AudioLink {
 public:
  explicit AudioLink(WorkerLink& link) : link_(link) {}

  // Opens the stream, and returns what the worker reports about it, validated.
  // `incarnation` is 1 for the first worker of the session.
  Result<worker_protocol::OpenedAudio> Open(const AudioOptions& options,
                                            uint32_t incarnation,
                                            const Limits& limits,
                                            const MediaInput& input);
  // Begins a play: asks for the samples [first_sample, first_sample + count).
  // Ends the previous play. The pool must be attached.
  Status Play(int64_t first_sample, int64_t count);
  // Grants free slots and waits for the next event of the latest play. A play
  // has one deadline. Each event except damage renews it. So does each report
  // that the worker has come a second of audio nearer to the first sample. The
  // number of renewals is limited (StepDeadline::kMostTimeouts).
  Result<AudioEvent> Await();

 private:
  // Validates one reply to a play. Returns nullopt if the reply belongs to an
  // earlier play. Returns nullopt and sets *nearer if the reply only reports
  // how far the worker is. Damage is returned even from an earlier play,
  // because it is reported only once.
  Result<std::optional<AudioEvent>> AdoptEventIfValid(
      ipc::schema::Reply::Reader reply_untrusted, bool* nearer);
  Result<PublishedSamples> AdoptSamplesIfValid(
      ipc::schema::PublishedSamples::Reader samples_untrusted);
  // Checks a progress report: on its way to the first sample of the play, the
  // worker has decoded up to this sample.
  Status CheckSkipping(int64_t reached_untrusted);
  Result<ipc::LostSamples> AdoptLostIfValid(
      ipc::schema::LostSamples::Reader lost_untrusted);

  WorkerLink& link_;
  CurrentPlay play_;
  // Set by Open(): the size of the media, and the format of the samples.
  int64_t media_bytes_ = 0;
  uint32_t sample_rate_ = 0;
  uint32_t channels_ = 0;
  // The samples of the latest play that have yet to come: [next_, end_).
  int64_t next_ = 0;
  int64_t end_ = 0;
  int64_t lost_until_ = 0;  // the sample after all damage reported so far
  bool skipping_ = false;   // a progress report has come in this play
  int64_t reached_ = 0;     // the sample in the latest progress report
  // The deadline of the play, set at its first wait.
  std::optional<worker_protocol::StepDeadline> deadline_;
  bool told_damage_ = false;  // the latest event was damage
};

}  // namespace bulkhead::worker_link
