// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"

namespace bulkhead::cli {

// Decodes and writes the audio stream of one file, some seconds at a time, like
// DecodeFile does the video stream. `job.audio` must be set. The outcome counts
// no frames.
FileOutcome DecodeAudio(Host& host, const DecodeJob& job,
                        Progress::Shown shown);

}  // namespace bulkhead::cli
