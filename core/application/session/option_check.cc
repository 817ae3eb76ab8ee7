// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/option_check.h"

#include <cstdint>

#include "core/application/worker_link/output_options.h"
#include "core/base/status_macros.h"
#include "core/worker_protocol/audio_validation.h"
#include "core/worker_protocol/stream_opening.h"

namespace bulkhead::session {
namespace {

// The largest number of slice or frame threads in libavcodec.
constexpr uint32_t kMostThreads = 64;

}  // namespace

Status CheckOptions(const std::string& name, const VideoOptions& options,
                    const Limits& limits) {
  if (options.stream_index.value_or(0) < 0) {
    return Status(Code::kInvalidArgument,
                  name + " has no stream " +
                      std::to_string(*options.stream_index) +
                      "; leave the index out for the first video stream");
  }
  if (options.threads > kMostThreads) {
    return Status(Code::kInvalidArgument,
                  "threads (--threads) is " + std::to_string(options.threads) +
                      "; it must be from 0 to " + std::to_string(kMostThreads));
  }
  RETURN_IF_ERROR(worker_link::ValidateOutput(options, limits));
  RETURN_IF_ERROR(
      worker_protocol::ValidateBackendOptions(options.backend_options));
  if (options.seek_mode == SeekMode::kApproximate &&
      !options.frame_mappings.empty()) {
    return Status(
        Code::kInvalidArgument,
        "frame_mappings are an exact index; leave out frame_mappings, "
        "or the seek_mode approximate");
  }
  return Status();
}

Status CheckOptions(const std::string& name, const AudioOptions& options) {
  if (options.stream_index.value_or(0) < 0) {
    return Status(Code::kInvalidArgument,
                  name + " has no stream " +
                      std::to_string(*options.stream_index) +
                      "; leave the index out for the first audio stream");
  }
  if (options.on_corrupt != OnCorrupt::kError &&
      options.on_corrupt != OnCorrupt::kSkip) {
    return Status(Code::kInvalidArgument,
                  "on_corrupt (--on-corrupt) of audio is error or skip; the "
                  "other ways are for pictures");
  }
  const int rate = options.sample_rate.value_or(1);
  if (rate < 1 ||
      static_cast<uint32_t>(rate) > worker_protocol::kMaxSampleRate) {
    return Status(Code::kInvalidArgument,
                  "sample_rate (--sample-rate) is " + std::to_string(rate) +
                      "; it must be from 1 to " +
                      std::to_string(worker_protocol::kMaxSampleRate));
  }
  const int channels = options.num_channels.value_or(1);
  if (channels < 1 ||
      static_cast<uint32_t>(channels) > worker_protocol::kMaxChannels) {
    return Status(Code::kInvalidArgument,
                  "num_channels (--channels) is " + std::to_string(channels) +
                      "; it must be from 1 to " +
                      std::to_string(worker_protocol::kMaxChannels));
  }
  return worker_protocol::ValidateBackendOptions(options.backend_options);
}

}  // namespace bulkhead::session
