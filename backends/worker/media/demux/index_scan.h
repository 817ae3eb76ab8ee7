// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ipc/error.h"
#include "ipc/index_entry.h"

namespace bulkhead::worker {

class Demuxer;

// Takes one part of an index. A failure ends the scan, and ScanIndex returns
// it.
using IndexSink =
    std::function<ipc::Expected<void>(std::span<const ipc::IndexEntry>)>;

// The limit on index entries: at 32 bytes each, they take 512 MiB in the host.
inline constexpr uint64_t kMostIndexEntries = uint64_t{16} << 20;

// Builds the index of frames: reads every packet from the beginning without
// decoding, and passes an entry for each frame that will be shown to `sink`, in
// demuxing order, at most `chunk_entries` at a time. Leaves out packets that
// the container marks as hidden (edit lists) and packets that show nothing
// (packet_inspector.h). Points of access (access_points.h) have a check. A
// packet without a presentation timestamp gets its decoding timestamp instead,
// or one of MPEG the time that follows from it (IndexEntry::derived).
//
// Leaves the demuxer at the end of the stream. Fails with kResourceExhausted
// beyond kMostIndexEntries.
ipc::Expected<void> ScanIndex(Demuxer& demuxer, size_t chunk_entries,
                              const IndexSink& sink);

}  // namespace bulkhead::worker
