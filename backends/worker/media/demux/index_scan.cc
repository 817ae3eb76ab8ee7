// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/index_scan.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/damage/packet_inspector.h"
#include "backends/worker/media/demux/access_points.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/try.h"

namespace bulkhead::worker {

static_assert(ipc::kNoTimestamp == BULKHEAD_NO_TIMESTAMP);

namespace {

constexpr size_t kNone = SIZE_MAX;

// `ordered`: the timestamps so far give the order of the pictures, and a seek
// finds them.
template <typename Packet>
ipc::IndexEntry EntryOf(const Packet& packet, bool ordered) {
  ipc::IndexEntry entry{};
  const bool timed = packet.pts != BULKHEAD_NO_TIMESTAMP;
  entry.pts = timed ? packet.pts : packet.dts;
  entry.duration = packet.duration;
  entry.position = packet.position;
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
  AccessPoints points = demuxer.MakeAccessPoints();
  chunk_entries = std::max<size_t>(chunk_entries, 1);
  std::vector<ipc::IndexEntry> chunk;
  chunk.reserve(chunk_entries + 1);
  uint64_t total = 0;
  // The place in `chunk` of the last picture that others may refer to, which a
  // decoder may drop.
  size_t held = kNone;
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer.ReadPacket());
    if (!read) break;
    const bulkhead_packet& packet = demuxer.packet();
    const bool shows = inspector->Inspect(packet);
    const bool is_access = points.Read(packet, inspector->role());
    if (inspector->drops_held() && held != kNone) {
      chunk.erase(chunk.begin() + static_cast<ptrdiff_t>(held));
      held = kNone;
      --total;
    }
    for (const auto& late : inspector->late()) {
      ++total;
      chunk.push_back(EntryOf(late, inspector->ordered()));
    }
    if (!shows || (packet.flags & BULKHEAD_PACKET_DISCARD)) continue;
    if (++total > kMostIndexEntries) {
      return ipc::Fail(ipc::Code::kResourceExhausted,
                       "the stream has more than " +
                           std::to_string(kMostIndexEntries) +
                           " packets: decode it in order, without an index");
    }
    if (!inspector->role().b_picture) held = chunk.size();
    ipc::IndexEntry& entry =
        chunk.emplace_back(EntryOf(packet, inspector->ordered()));
    if (is_access) entry.check = MarkOf(packet).check;
    while (chunk.size() > chunk_entries) {
      // That picture stays here, unless a whole chunk has followed it.
      const bool stays = held != kNone && held > 0;
      const size_t count =
          stays ? std::min(held, chunk_entries) : chunk_entries;
      IPC_TRY(sink(std::span(chunk).first(count)));
      chunk.erase(chunk.begin(), chunk.begin() + static_cast<ptrdiff_t>(count));
      held = stays ? held - count : kNone;
    }
  }
  return chunk.empty() ? ipc::Expected<void>() : sink(chunk);
}

}  // namespace bulkhead::worker
