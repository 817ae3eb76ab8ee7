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

namespace {

// `ordered`: the timestamps so far give the order of the pictures, and a seek
// finds them.
template <typename Packet>
ipc::IndexEntry EntryOf(const Packet& packet, bool ordered) {
  ipc::IndexEntry entry{};
  const bool timed = packet.pts != BULKHEAD_NO_TIMESTAMP;
  entry.pts = timed ? packet.pts : packet.dts;
  entry.duration = packet.duration;
  entry.keyframe = (packet.flags & BULKHEAD_PACKET_KEYFRAME) ? 1 : 0;
  // A decoder derives the missing timestamp from a decoding timestamp, and the
  // result depends on where decoding began. The host must not seek by it.
  entry.disordered = timed && ordered ? 0 : 1;
  return entry;
}

}  // namespace

ipc::Expected<void> ScanIndex(Demuxer& demuxer, size_t chunk_entries,
                              const IndexSink& sink) {
  IPC_TRY(demuxer.SeekToBeginning());

  const auto inspector = demuxer.MakeInspector();
  chunk_entries = std::max<size_t>(chunk_entries, 1);
  std::vector<ipc::IndexEntry> chunk;
  chunk.reserve(chunk_entries);
  uint64_t total = 0;
  const bool counts_packets = demuxer.facts().container == "avi";
  // Timestamps that count packets are of no use behind lost ones: a seek counts
  // those that the file's own index has.
  bool shifted = false;
  bool is_first = true;
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer.ReadPacket());
    if (!read) break;
    const bulkhead_packet& packet = demuxer.packet();
    if (is_first && demuxer.DoubtsStart()) inspector->start().LostBefore();
    is_first = false;
    const bool asks = counts_packets || inspector->start().awaits_entry();
    const bool lost = asks && demuxer.LostBefore();
    if (lost) inspector->start().LostBefore();
    const bool shows = inspector->Inspect(packet);
    shifted = shifted || (counts_packets && lost);
    for (const auto& late : inspector->late()) {
      ++total;
      chunk.push_back(EntryOf(late, inspector->ordered() && !shifted));
    }
    if (!shows || (packet.flags & BULKHEAD_PACKET_DISCARD)) continue;
    if (++total > kMostIndexEntries) {
      return ipc::Fail(ipc::Code::kResourceExhausted,
                       "the stream has more than " +
                           std::to_string(kMostIndexEntries) +
                           " packets: decode it in order, without an index");
    }
    chunk.push_back(EntryOf(packet, inspector->ordered() && !shifted));
    if (chunk.size() >= chunk_entries) {
      IPC_TRY(sink(chunk));
      chunk.clear();
    }
  }
  return chunk.empty() ? ipc::Expected<void>() : sink(chunk);
}

}  // namespace bulkhead::worker
