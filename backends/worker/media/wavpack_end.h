// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// The end of a WavPack file, by the header of its last block: each block has
// the number of its first sample. A file that was written as a stream tells
// nothing else of its length. libavformat reads no further than the first block
// that it cannot read.
struct WavpackEnd {
  int64_t sample = 0;    // the number behind the last one
  bool is_torn = false;  // the last block is longer than the file
};

// Returns nullopt if there is no header of a block at `from` or behind it. The
// file is hostile.
std::optional<WavpackEnd> ReadWavpackEnd(MediaBytes file, int64_t size,
                                         int64_t from);

}  // namespace bulkhead::worker
