// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include "core/application/decoding/job.h"
#include "core/application/decoding/outcome.h"
#include "core/application/decoding/progress.h"

namespace bulkhead::decoding {

// Opens, decodes and writes the video stream of one file, for `bulkhead decode`
// and for batches. Frames written before a failure stay in the output. Does not
// report progress if the output is a terminal: its lines already show it.
Outcome DecodeFile(Host& host, const Source& source, const Job& job,
                   Progress progress);

}  // namespace bulkhead::decoding
