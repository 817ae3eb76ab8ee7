// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead::worker::demux {

// The bytes of a file from offset `begin` to offset `end`, which is excluded.
struct ByteRange {
  int64_t begin = 0;
  int64_t end = 0;
};

}  // namespace bulkhead::worker::demux
