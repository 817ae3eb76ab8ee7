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
  return session_->metadata();
}
RecoveryStats AudioDecoder::recovery() const { return session_->recovery(); }
Result<AudioSamples> AudioDecoder::AllSamples() {
  return SamplesPlayedInRange(-std::numeric_limits<double>::infinity());
}
Result<AudioSamples> AudioDecoder::SamplesPlayedInRange(
    double start_seconds, std::optional<double> stop_seconds) {
  RETURN_IF_ERROR(session_->BeginCall());
  return session_->SamplesPlayedInRange(start_seconds, stop_seconds);
}
std::vector<DamagedSamples> AudioDecoder::damage() const {
  return session_->damage();
}
void AudioDecoder::Cancel() { session_->Cancel(); }
int AudioDecoder::worker_pid() const { return session_->worker_pid(); }

}  // namespace bulkhead
