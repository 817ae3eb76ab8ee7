// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/worker/media/file_window.h"

namespace bulkhead::worker {

// Returns the offset from which on a file has only padding, or its size if it
// has none: zeroes, line ends and tags (ID3v1, APE) up to its end. Media that
// ends in such bytes counts as padding too, so only what stands at a place
// where the container has ended tells anything. Reads the padding once.
int64_t PaddingStart(FileWindow& file);

}  // namespace bulkhead::worker
