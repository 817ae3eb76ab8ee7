// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/audio_decoder.h"

#include <limits>

#include "core/application/session/audio_session.h"
#include "core/base/status_macros.h"

namespace bulkhead {

AudioDecoder::AudioDecoder(std::unique_ptr<session::AudioSession> session)
    : session_(std::move(session)) {}
AudioDecoder::~AudioDecoder() = default;
AudioDecoder::AudioDecoder(AudioDecoder&&) noexcept = default;
AudioDecoder& AudioDecoder::operator=(AudioDecoder&&) noexcept = default;

const AudioMetadata& AudioDecoder::metadata() const {
  static const AudioMetadata kNone;
  return session_ ? session_->metadata() : kNone;
}
RecoveryStats AudioDecoder::recovery() const {
  return session_ ? session_->recovery() : RecoveryStats();
}
Result<AudioSamples> AudioDecoder::AllSamples() {
  return SamplesPlayedInRange(-std::numeric_limits<double>::infinity());
}
Result<AudioSamples> AudioDecoder::SamplesPlayedInRange(
    double start_seconds, std::optional<double> stop_seconds) {
  if (!session_) {
    return Status(Code::kInvalidArgument,
                  "this AudioDecoder was moved from; use the one that it was "
                  "moved to");
  }
  RETURN_IF_ERROR(session_->BeginCall());
  return session_->SamplesPlayedInRange(start_seconds, stop_seconds);
}
std::vector<DamagedSamples> AudioDecoder::damage() const {
  return session_ ? session_->damage() : std::vector<DamagedSamples>();
}
void AudioDecoder::Cancel() {
  if (session_) session_->Cancel();
}
int AudioDecoder::worker_pid() const {
  return session_ ? session_->worker_pid() : 0;
}

}  // namespace bulkhead
