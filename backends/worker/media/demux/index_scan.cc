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

namespace bulkhead::worker::demux {

static_assert(ipc::kNoTimestamp == BULKHEAD_NO_TIMESTAMP);

namespace {

// Returns the index entry of a packet. `ordered` says whether the timestamps so
// far follow the order of the pictures, so that a seek finds them.
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

// Derives the times of MPEG pictures whose packets have only decoding times, as
// in AVI and in some program streams. A decoder holds back a picture that
// others may refer to, and shows it when it decodes the next such picture. It
// shows any other picture at once.
class PictureTimes {
 public:
  explicit PictureTimes(const std::string& codec)
      : derives_(codec.starts_with("mpeg")) {}

  // Takes the entry of the next packet. `is_held` says whether other pictures
  // may refer to the packet's picture.
  void Sent(ipc::IndexEntry& entry, const bulkhead_packet& packet,
            bool is_held) {
    if (packet.dts == BULKHEAD_NO_TIMESTAMP) derives_ = false;
    entry.derived = derives_ && entry.disordered != 0;
    if (is_held) {
      lacks_time_ = packet.pts == BULKHEAD_NO_TIMESTAMP;
      return;
    }
    // Pictures that are not held back are shown in the order of their packets.
    derives_ = derives_ && entry.pts > highest_;
    lowest_ = std::min(lowest_, entry.pts);
    highest_ = std::max(highest_, entry.pts);
  }

  // Takes the time at which the picture that was held back is shown. Derives no
  // further times if the times of other pictures contradict this time.
  void Shown(ipc::IndexEntry& held, int64_t time) {
    if (lacks_time_ && derives_) held.pts = time;
    derives_ = derives_ && held.pts > before_ && lowest_ > before_ &&
               highest_ < held.pts;
    held.derived = held.derived != 0 && derives_;
    before_ = held.pts;
    lowest_ = INT64_MAX;
    highest_ = INT64_MIN;
  }

  // Derives no further times.
  void GiveUp() { derives_ = false; }

  // Takes the end of the stream, at which the last held picture is shown.
  void Ended(ipc::IndexEntry& held) {
    int64_t time;
    if (!__builtin_add_overflow(std::max(held.pts, highest_), held.duration,
                                &time)) {
      Shown(held, time);
    }
  }

 private:
  bool derives_;
  bool lacks_time_ = false;     // the held picture has no timestamp
  int64_t before_ = INT64_MIN;  // the time of the previously held picture
  // The range of times of the pictures after the held picture's packet.
  int64_t lowest_ = INT64_MAX;
  int64_t highest_ = INT64_MIN;
};

// The entries that the sink has not got yet. Among them is the entry of the
// picture that a decoder holds back, since the decoder may still drop it or
// show it at another time. That entry is kept until a full chunk has followed
// it.
class EntryChunk {
 public:
  EntryChunk(size_t most_entries, const IndexSink& sink)
      : most_(std::max<size_t>(most_entries, 1)), sink_(sink) {
    entries_.reserve(most_ + 1);
  }

  ipc::IndexEntry& Add(const ipc::IndexEntry& entry) {
    return entries_.emplace_back(entry);
  }
  // Returns the entry of the picture that is held back, or null.
  ipc::IndexEntry* held() {
    return held_ == kNone ? nullptr : &entries_[held_];
  }
  // Makes the entry that is added next the held one.
  void HoldNext() { held_ = entries_.size(); }
  void DropHeld() {
    entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(held_));
    held_ = kNone;
  }

  // Passes entries to the sink while there is more than a full chunk.
  ipc::Expected<void> PassFull() {
    while (entries_.size() > most_) {
      // Stops before the held entry. Passes it only if a full chunk follows it.
      const bool stays = held_ != kNone && held_ > 0;
      const size_t count = stays ? std::min(held_, most_) : most_;
      IPC_TRY(sink_(std::span(entries_).first(count)));
      entries_.erase(entries_.begin(),
                     entries_.begin() + static_cast<ptrdiff_t>(count));
      held_ = stays ? held_ - count : kNone;
    }
    return {};
  }
  // Passes the last entries to the sink.
  ipc::Expected<void> PassRest() {
    return entries_.empty() ? ipc::Expected<void>() : sink_(entries_);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  const size_t most_;
  const IndexSink& sink_;
  std::vector<ipc::IndexEntry> entries_;
  size_t held_ = kNone;  // the place of the held entry
};

}  // namespace

ipc::Expected<void> ScanIndex(Demuxer& demuxer, size_t chunk_entries,
                              const IndexSink& sink) {
  IPC_TRY(demuxer.SeekToBeginning());

  const auto inspector = demuxer.MakeInspector();
  AccessPoints points = demuxer.MakeAccessPoints();
  EntryChunk chunk(chunk_entries, sink);
  PictureTimes times(demuxer.facts().codec);
  uint64_t total = 0;
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer.ReadPacket());
    if (!read) break;
    const bulkhead_packet& packet = demuxer.packet();
    const bool shows = inspector->Inspect(packet);
    const bool is_access = points.Read(packet, inspector->role());
    // If a stream's beginning is missing, libavcodec shows a picture twice or
    // not at all, so times cannot be derived.
    const bool begins = total > 0 || inspector->role().entry;
    if (!begins || inspector->left_out() || inspector->has_packed()) {
      times.GiveUp();
    }
    if (inspector->drops_held() && chunk.held() != nullptr) {
      chunk.DropHeld();
      --total;
    }
    for (const auto& late : inspector->late()) {
      ++total;
      chunk.Add(EntryOf(late, inspector->ordered()));
    }
    if (!shows || (packet.flags & BULKHEAD_PACKET_DISCARD)) continue;
    if (++total > kMostIndexEntries) {
      return ipc::Fail(ipc::Code::kResourceExhausted,
                       "the stream has more than " +
                           std::to_string(kMostIndexEntries) +
                           " packets: decode it in order, without an index");
    }
    const bool is_held = !inspector->role().b_picture;
    if (is_held) {
      // The decoder shows the picture that it held so far.
      if (chunk.held() != nullptr) times.Shown(*chunk.held(), packet.dts);
      chunk.HoldNext();
    }
    ipc::IndexEntry& entry = chunk.Add(EntryOf(packet, inspector->ordered()));
    times.Sent(entry, packet, is_held);
    if (is_access) entry.check = MarkOf(packet).check;
    IPC_TRY(chunk.PassFull());
  }
  if (chunk.held() != nullptr) times.Ended(*chunk.held());
  return chunk.PassRest();
}

}  // namespace bulkhead::worker::demux
