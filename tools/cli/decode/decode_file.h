// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/cli/decode/decode_job.h"
#include "tools/cli/decode/progress.h"

namespace bulkhead::cli {

// The result of decoding one file.
struct FileOutcome {
  Status status;
  // The number of frames written, including those before a failure.
  uint64_t frames = 0;
  double seconds = 0;
  RecoveryStats recovery;
  std::vector<DamagedRange> damage;
  std::vector<DamagedSamples> damaged_samples;  // The damage of audio.
  // The number of frames in the video stream, including damaged ones. Unknown
  // (nullopt) if the stream was neither indexed nor decoded to its end.
  std::optional<uint64_t> frame_count;
  std::optional<uint64_t> frame_count_from_header;
  // The header counts frames that the stream does not have, as in a truncated
  // file.
  bool lacks_frames = false;
  // The reader of stdout has gone away, so that no output can be written.
  bool reader_gone = false;
};

// Returns the outcome of a file that failed before any frame was decoded.
FileOutcome Failure(Status status);

// Opens, decodes and writes the video stream of one file. Frames written before
// a failure stay in the output. `shown` says where to show a progress bar.
FileOutcome DecodeFile(Host& host, const DecodeJob& job, Progress::Shown shown);

}  // namespace bulkhead::cli
