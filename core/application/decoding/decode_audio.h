// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include "core/application/decoding/job.h"
#include "core/application/decoding/outcome.h"
#include "core/application/decoding/progress.h"

namespace bulkhead::decoding {

// Opens, decodes and writes the audio stream of one file, some seconds at a
// time. Resembles DecodeFile, which does the same with the video stream.
// `job.audio` must be set. The outcome has no `frames`.
Outcome DecodeAudio(Host& host, const Source& source, const Job& job,
                    const Progress& progress);

}  // namespace bulkhead::decoding
