// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/video_decoder.h"

#include "core/application/session/video_batches.h"
#include "core/application/session/video_session.h"
#include "core/base/status_macros.h"

namespace bulkhead {
namespace {

// Begins a call of the decoder. `session` is null in a decoder that was moved
// from.
Status Begin(session::VideoSession* session) {
  if (session) return session->BeginCall();
  return Status(Code::kInvalidArgument,
                "this VideoDecoder was moved from; use the one that it was "
                "moved to");
}

}  // namespace

VideoDecoder::VideoDecoder(std::unique_ptr<session::VideoSession> session)
    : session_(std::move(session)) {}
VideoDecoder::~VideoDecoder() = default;
VideoDecoder::VideoDecoder(VideoDecoder&&) noexcept = default;
VideoDecoder& VideoDecoder::operator=(VideoDecoder&&) noexcept = default;

const VideoMetadata& VideoDecoder::metadata() const {
  static const VideoMetadata kNone;
  return session_ ? session_->metadata() : kNone;
}
RecoveryStats VideoDecoder::recovery() const {
  return session_ ? session_->recovery() : RecoveryStats();
}
Result<std::optional<Frame>> VideoDecoder::Next() {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session_->Next();
}
void VideoDecoder::Rewind() {
  if (session_) session_->Rewind();
}
Result<uint64_t> VideoDecoder::FrameCount() {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session_->FrameCount();
}
Result<std::vector<int64_t>> VideoDecoder::KeyFrameIndices() {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session_->KeyFrameIndices();
}
Result<Frame> VideoDecoder::FrameAt(int64_t index) {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session_->FrameAt(index);
}
Result<FrameBatch> VideoDecoder::FramesAt(std::span<const int64_t> indices,
                                          std::span<std::byte> into) {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session::VideoBatches(*session_).At(indices, into);
}
Result<FrameBatch> VideoDecoder::FramesInRange(int64_t start,
                                               std::optional<int64_t> stop,
                                               int64_t step,
                                               std::span<std::byte> into) {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session::VideoBatches(*session_).InRange(start, stop, step, into);
}
Result<SecondsRange> VideoDecoder::PlayedRange() {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session_->PlayedRange();
}
Result<Frame> VideoDecoder::FramePlayedAt(double seconds) {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session_->FramePlayedAt(seconds);
}
Result<FrameBatch> VideoDecoder::FramesPlayedAt(std::span<const double> seconds,
                                                std::span<std::byte> into) {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session::VideoBatches(*session_).PlayedAt(seconds, into);
}
Result<FrameBatch> VideoDecoder::FramesPlayedInRange(
    double start, double stop, std::optional<double> fps,
    std::span<std::byte> into) {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session::VideoBatches(*session_).PlayedInRange(start, stop, fps, into);
}
Result<FrameBatch> VideoDecoder::AllFrames(std::optional<double> fps,
                                           std::span<std::byte> into) {
  RETURN_IF_ERROR(Begin(session_.get()));
  return session::VideoBatches(*session_).All(fps, into);
}
FrameIterator VideoDecoder::begin() {
  Rewind();
  return FrameIterator(*this);
}
std::vector<DamagedRange> VideoDecoder::damage() const {
  return session_ ? session_->damage() : std::vector<DamagedRange>();
}

void VideoDecoder::Cancel() {
  if (session_) session_->Cancel();
}
int VideoDecoder::worker_pid() const {
  return session_ ? session_->worker_pid() : 0;
}

}  // namespace bulkhead
