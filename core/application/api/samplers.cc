// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/samplers.h"

#include <utility>

#include "core/application/api/clip_plan.h"
#include "core/base/status_macros.h"

namespace bulkhead {
namespace {

// Divides the frames of a plan into its clips.
ClipBatch Group(FrameBatch frames, uint64_t frames_per_clip) {
  const size_t clips = frames.size() / frames_per_clip;
  return {std::move(frames), clips, frames_per_clip};
}

// Decodes clips that are chosen by frame index; at random places with a seed.
Result<ClipBatch> Sample(VideoDecoder& decoder, const IndexClips& request,
                         std::optional<uint64_t> seed) {
  ASSIGN_OR_RETURN(const uint64_t count, decoder.FrameCount());
  ASSIGN_OR_RETURN(const auto plan, PlanClips(request, count, seed));
  ASSIGN_OR_RETURN(FrameBatch frames, decoder.FramesAt(plan));
  return Group(std::move(frames), request.frames_per_clip);
}

// Decodes clips that are chosen by time; at random places with a seed.
Result<ClipBatch> Sample(VideoDecoder& decoder, const TimeClips& request,
                         double between_starts, std::optional<uint64_t> seed) {
  ASSIGN_OR_RETURN(const SecondsRange played, decoder.PlayedRange());
  const double rate = decoder.metadata().average_frame_rate.value();
  ASSIGN_OR_RETURN(const auto plan,
                   PlanClips(request, played, rate, between_starts, seed));
  ASSIGN_OR_RETURN(FrameBatch frames, decoder.FramesPlayedAt(plan));
  return Group(std::move(frames), request.frames_per_clip);
}

}  // namespace

std::array<size_t, 5> ClipBatch::shape() const {
  const auto of = frames.shape();
  return {clips, frames_per_clip, of[1], of[2], of[3]};
}

std::array<size_t, 5> ClipBatch::strides() const {
  const auto of = frames.strides();
  return {of[0] * frames_per_clip, of[0], of[1], of[2], of[3]};
}

Result<ClipBatch> ClipsAtRandomIndices(VideoDecoder& decoder,
                                       const IndexClips& request,
                                       uint64_t seed) {
  return Sample(decoder, request, seed);
}

Result<ClipBatch> ClipsAtRegularIndices(VideoDecoder& decoder,
                                        const IndexClips& request) {
  return Sample(decoder, request, std::nullopt);
}

Result<ClipBatch> ClipsAtRandomTimestamps(VideoDecoder& decoder,
                                          const TimeClips& request,
                                          uint64_t seed) {
  return Sample(decoder, request, 0, seed);
}

Result<ClipBatch> ClipsAtRegularTimestamps(VideoDecoder& decoder,
                                           double seconds_between_clip_starts,
                                           const TimeClips& request) {
  return Sample(decoder, request, seconds_between_clip_starts, std::nullopt);
}

}  // namespace bulkhead
