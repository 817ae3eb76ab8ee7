// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"

namespace bulkhead::cli {

// As DecodeFile, of a job of audio: some seconds of it at a time. The outcome
// counts no frames.
FileOutcome DecodeAudio(Host& host, const DecodeJob& job,
                        Progress::Shown shown);

}  // namespace bulkhead::cli
