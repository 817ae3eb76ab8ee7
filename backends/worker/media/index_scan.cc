// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/index_scan.h"

#include <algorithm>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/packet_inspector.h"
#include "ipc/try.h"

namespace bulkhead::worker {

static_assert(ipc::kNoTimestamp == BULKHEAD_NO_TIMESTAMP);

ipc::Expected<void> ScanIndex(Demuxer& demuxer, size_t chunk_entries,
                              const IndexSink& sink) {
  IPC_TRY(demuxer.SeekToBeginning());

  const auto inspector = demuxer.MakeInspector();
  chunk_entries = std::max<size_t>(chunk_entries, 1);
  std::vector<ipc::IndexEntry> chunk;
  chunk.reserve(chunk_entries);
  uint64_t total = 0;
  const bool counts_packets = demuxer.facts().container == "avi";
  bool shifted = false;
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer.ReadPacket());
    if (!read) break;
    const bulkhead_packet& packet = demuxer.packet();
    const bool shows = inspector->Inspect(packet);
    if (!shows || (packet.flags & BULKHEAD_PACKET_DISCARD)) continue;
    if (++total > kMostIndexEntries) {
      return ipc::Fail(ipc::Code::kResourceExhausted,
                       "the stream has more than " +
                           std::to_string(kMostIndexEntries) +
                           " packets: decode it in order, without an index");
    }
    ipc::IndexEntry entry{};
    entry.pts = packet.pts != BULKHEAD_NO_TIMESTAMP ? packet.pts : packet.dts;
    entry.duration = packet.duration;
    entry.keyframe = (packet.flags & BULKHEAD_PACKET_KEYFRAME) ? 1 : 0;
    // A decoder derives the missing timestamp from a decoding timestamp, and
    // the result depends on where decoding began. The host must not seek by it.
    // Nor by one that counts packets where packets are lost: a seek counts
    // those that the file's own index has.
    shifted = shifted || (counts_packets && demuxer.LostBefore());
    const bool timed = packet.pts != BULKHEAD_NO_TIMESTAMP && !shifted;
    entry.disordered = timed && inspector->ordered() ? 0 : 1;
    chunk.push_back(entry);
    if (chunk.size() == chunk_entries) {
      IPC_TRY(sink(chunk));
      chunk.clear();
    }
  }
  return chunk.empty() ? ipc::Expected<void>() : sink(chunk);
}

}  // namespace bulkhead::worker
