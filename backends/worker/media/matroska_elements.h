// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// Matroska and WebM are made of elements (EBML, RFC 8794), each of which tells
// its length, so that one leads to the next. libavformat searches for the next
// cluster if one does not, and does not tell.
//
// The file is hostile. The functions read the heads of elements only, and no
// more than a million of them; they take longer ways for whole.

// Returns true if the elements of the file lead from the block at `from` to the
// block at `to`, without a byte between two of them, and without another block
// if `alone`. Blocks are named by the offset of their data, as libavformat
// does; `from` is -1 for the start of the file.
bool MatroskaLeadsTo(MediaBytes file, int64_t from, int64_t to, bool alone);

// Returns true if the elements behind the block at `from` lead to the end of
// the file, no other block is among them, and the file is as long as its
// segment.
bool MatroskaEndsBehind(MediaBytes file, int64_t from, int64_t size);

// Returns true if the block at `to` is the first one of a cluster, whose head
// tells its time. A block within damage can have any time.
bool MatroskaBeginsCluster(MediaBytes file, int64_t to);

}  // namespace bulkhead::worker
