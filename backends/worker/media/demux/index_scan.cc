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

// Finds the times of the pictures of MPEG whose packets have decoding times
// alone, as in AVI and in some program streams: a decoder shows a picture that
// others may refer to when it decodes the next such picture, and any other
// picture at once.
class PictureTimes {
 public:
  explicit PictureTimes(const std::string& codec)
      : derives_(codec.starts_with("mpeg")) {}

  // Takes the entry of the next packet. `is_held`: others may refer to it.
  void Sent(ipc::IndexEntry& entry, const bulkhead_packet& packet,
            bool is_held) {
    if (packet.dts == BULKHEAD_NO_TIMESTAMP) derives_ = false;
    entry.derived = derives_ && entry.disordered != 0;
    if (is_held) {
      lacks_time_ = packet.pts == BULKHEAD_NO_TIMESTAMP;
      return;
    }
    // Such pictures are shown in the order of their packets.
    derives_ = derives_ && entry.pts > highest_;
    lowest_ = std::min(lowest_, entry.pts);
    highest_ = std::max(highest_, entry.pts);
  }

  // Takes the time at which the picture that was held is shown. No time is
  // derived any more once other pictures' times contradict that.
  void Shown(ipc::IndexEntry& held, int64_t time) {
    if (lacks_time_ && derives_) held.pts = time;
    derives_ = derives_ && held.pts > before_ && lowest_ > before_ &&
               highest_ < held.pts;
    held.derived = held.derived != 0 && derives_;
    before_ = held.pts;
    lowest_ = INT64_MAX;
    highest_ = INT64_MIN;
  }

  // Derives no time any more.
  void GiveUp() { derives_ = false; }

  // Takes the end of the stream, at which the picture that is held is shown.
  void Ended(ipc::IndexEntry& held) {
    int64_t time;
    if (!__builtin_add_overflow(std::max(held.pts, highest_), held.duration,
                                &time)) {
      Shown(held, time);
    }
  }

 private:
  bool derives_;
  bool lacks_time_ = false;     // the picture that is held
  int64_t before_ = INT64_MIN;  // the time of the picture that was held before
  int64_t lowest_ = INT64_MAX;  // of the others since the one that is held
  int64_t highest_ = INT64_MIN;
};

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
  PictureTimes times(demuxer.facts().codec);
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer.ReadPacket());
    if (!read) break;
    const bulkhead_packet& packet = demuxer.packet();
    const bool shows = inspector->Inspect(packet);
    const bool is_access = points.Read(packet, inspector->role());
    // Of a stream that begins in its middle, libavcodec shows a picture twice
    // or not at all.
    const bool begins = total > 0 || inspector->role().entry;
    if (!begins || inspector->left_out() || inspector->has_packed()) {
      times.GiveUp();
    }
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
    const bool is_held = !inspector->role().b_picture;
    if (is_held && held != kNone) times.Shown(chunk[held], packet.dts);
    if (is_held) held = chunk.size();
    ipc::IndexEntry& entry =
        chunk.emplace_back(EntryOf(packet, inspector->ordered()));
    times.Sent(entry, packet, is_held);
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
  if (held != kNone) times.Ended(chunk[held]);
  return chunk.empty() ? ipc::Expected<void>() : sink(chunk);
}

}  // namespace bulkhead::worker
