// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ipc/error.h"
#include "ipc/index_entry.h"

namespace bulkhead::worker {

class Demuxer;

// Takes part of an index; a failure ends the scan and is passed on.
using IndexSink =
    std::function<ipc::Expected<void>(std::span<const ipc::IndexEntry>)>;

// At 24 bytes each, 384 MiB in the host.
inline constexpr uint64_t kMostIndexEntries = uint64_t{16} << 20;

// Reads every packet from the beginning without decoding and tells `sink` of
// each that will be shown, in demuxing order, at most `chunk_entries` at a
// time. Packets that the container marks as not to be shown (edit lists) or
// that show nothing (packet_inspector.h) are left out. A packet without a
// presentation time is named by its decoding time.
//
// Leaves the demuxer at its end: seek before playing on. kResourceExhausted
// beyond kMostIndexEntries.
ipc::Expected<void> ScanIndex(Demuxer& demuxer, size_t chunk_entries,
                              const IndexSink& sink);

}  // namespace bulkhead::worker
