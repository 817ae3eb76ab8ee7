// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"

namespace bulkhead::cli {

// Opens, decodes and writes the audio stream of one file, some seconds at a
// time. Resembles DecodeFile, which does the same with the video stream.
// `job.audio` must be set. `frames` of the outcome stays 0.
FileOutcome DecodeAudio(Host& host, const DecodeJob& job,
                        Progress::Shown shown);

}  // namespace bulkhead::cli
