// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ipc/error.h"
#include "ipc/index_entry.h"

namespace bulkhead::worker::demux {

class Demuxer;

// Takes one part of an index. If it fails, ScanIndex stops and returns the
// failure.
using IndexSink =
    std::function<ipc::Expected<void>(std::span<const ipc::IndexEntry>)>;

// The limit on index entries: at 32 bytes each, they take 512 MiB in the host.
inline constexpr uint64_t kMostIndexEntries = uint64_t{16} << 20;

// Builds the index of frames: reads every packet from the beginning without
// decoding, and makes an entry for each packet whose frame will be shown. Gives
// the entries to `sink` in demuxing order, at most `chunk_entries` at a time.
// Leaves out packets that the container marks as hidden (edit lists) and
// packets that show nothing (packet_inspector.h). The entry of a point of
// access (access_points.h) has a hash of the packet (IndexEntry::check), by
// which a later seek recognizes the packet. If a packet has no presentation
// timestamp, its entry gets the decoding timestamp; for MPEG, the presentation
// time that follows from the decoding timestamps (IndexEntry::derived).
//
// Leaves the demuxer at the end of the stream. Fails with kResourceExhausted
// for more than kMostIndexEntries entries.
ipc::Expected<void> ScanIndex(Demuxer& demuxer, size_t chunk_entries,
                              const IndexSink& sink);

}  // namespace bulkhead::worker::demux
