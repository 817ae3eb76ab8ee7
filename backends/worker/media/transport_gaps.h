// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// Returns true if packets of an MPEG transport stream are missing in the bytes
// [from, to) of the file: a packet does not begin where the one before ends,
// one is marked as damaged, the continuity counter of a program's part skips
// numbers without the sign that this is meant, or a PES packet (the part of a
// stream that has a timestamp) begins behind `read` that has not been read, or
// whose header is damaged. `from` and `read` are offsets of packets in which
// PES packets of the stream begin that have been read; `from` may also be 0.
//
// libavformat notices the same, but does not tell where it takes packets apart
// into frames, as it does for most audio. The file is hostile. Looks at no more
// than the first few megabytes.
bool HasTransportGap(MediaBytes file, int64_t from, int64_t read, int64_t to);

}  // namespace bulkhead::worker
