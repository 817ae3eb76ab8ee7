// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/decode/examiner.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/error.h"
#include "ipc/schema/session.capnp.h"

namespace bulkhead::worker::session {

// Opens the decoder of a stream with the settings of the host's `open` request.
// The settings are copied, so the decoder can be opened again later, for
// example after damage.
class DecoderOpening {
 public:
  explicit DecoderOpening(ipc::schema::Open::Reader open);

  // Opens a decoder, which must not outlive this object.
  ipc::Expected<std::unique_ptr<decode::Decoder>> Open(
      const bulkhead_backend& backend, const bulkhead_runtime& runtime,
      const bulkhead_codec_parameters& codec) const;
  // Limits the decoders to one thread if the codec or the first packet shows
  // that the pictures would depend on the number of threads. `demuxer` must be
  // at the beginning of the stream. The call does not move it.
  void ChooseThreads(demux::Demuxer& demuxer);
  // Returns how many threads a decoder gets; 0 means that the decoder chooses.
  uint32_t threads() const { return threads_; }
  // Returns whether an examiner, which `bulkhead conformance` asks for, checks
  // every call of the decoder.
  bool has_examiner() const { return examiner_ && *examiner_ != nullptr; }

 private:
  const uint32_t device_;
  uint32_t threads_;
  const uint32_t incarnation_;
  const uint64_t max_frame_pixels_;
  const bool ignore_errors_;
  const std::chrono::milliseconds patience_;  // how long AGAIN may be repeated
  decode::Examiner::Options options_;         // the options for the backend
  ipc::Expected<std::unique_ptr<decode::Examiner>> examiner_;
};

// Returns the limits for reading the file that an `open` request sets.
demux::DemuxerLimits DemuxerLimitsOf(ipc::schema::Open::Reader open);
// Returns the stream that an `open` request names: its index, kFirstStream or
// kBestStream (stream_choice.h).
int32_t StreamToOpen(ipc::schema::Open::Reader open);

}  // namespace bulkhead::worker::session
