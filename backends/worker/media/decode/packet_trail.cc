// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/packet_trail.h"

#include <algorithm>

#include "backends/worker/media/demux/missing_end.h"

namespace bulkhead::worker::decode {
namespace {

using ipc::Loss;

// The most frames that are reported as missing at the end of a file.
constexpr uint64_t kMostMissing = 1'000'000;

// The fewest missing frames before the end in the header that count as a gap,
// since the last frame may be shown longer than the others.
constexpr uint64_t kLeastGap = 3;

// The most pictures by which decoding and display order may differ, since a
// decoder's picture buffer has room for 16.
constexpr int kMostReordered = 16;

Loss NoteOfGap(const damage::TimestampGaps::Packet& after) {
  return {.pts = after.pts,
          .duration = 0,
          .position = after.position,
          .packets = 1,
          .sign = ipc::DamageSign::kGap};
}

}  // namespace

PacketTrail::PacketTrail(const demux::Demuxer& demuxer)
    : demuxer_(demuxer),
      gaps_(static_cast<size_t>(
          std::clamp(demuxer.facts().video_delay, 0, kMostReordered))) {}

void PacketTrail::Restart() {
  gaps_.Restart();
  last_is_marked_ = false;
  latest_end_ = BULKHEAD_NO_TIMESTAMP;
}

std::vector<Loss> PacketTrail::Read(const bulkhead_packet& packet,
                                    const damage::PacketRole& role) {
  std::vector<Loss> notes;
  if (last_is_marked_) notes.push_back(NoteOfLast(ipc::DamageSign::kMarked));
  last_pts_ = packet.pts;
  last_duration_ = packet.duration;
  last_position_ = packet.position;
  last_is_marked_ = (packet.flags & BULKHEAD_PACKET_CORRUPT) != 0;
  int64_t end;
  if (packet.pts != BULKHEAD_NO_TIMESTAMP &&
      !__builtin_add_overflow(packet.pts, packet.duration, &end)) {
    latest_end_ = std::max(latest_end_, end);
  }
  if (role.has_picture && !role.second_field) {
    const auto after = gaps_.Sent({packet.pts, packet.position});
    if (after) notes.push_back(NoteOfGap(*after));
  }
  return notes;
}

std::vector<Loss> PacketTrail::AtEnd() {
  std::vector<Loss> losses;
  while (const auto after = gaps_.Ended()) losses.push_back(NoteOfGap(*after));
  if (const auto end = End()) losses.push_back(*end);
  return losses;
}

std::string PacketTrail::PlaceOfLast() const {
  std::string text;
  if (last_pts_ != BULKHEAD_NO_TIMESTAMP) {
    text += ", the last with timestamp " + std::to_string(last_pts_);
  }
  if (last_position_ >= 0) {
    text += ", byte " + std::to_string(last_position_) + " of the file";
  }
  return text;
}

Loss PacketTrail::NoteOfLast(ipc::DamageSign sign) const {
  return {.pts = last_pts_,
          .duration = last_duration_,
          .position = last_position_,
          .packets = 1,
          .sign = sign};
}

uint64_t PacketTrail::FramesUntil(int64_t end) const {
  const bulkhead_rational rate = demuxer_.facts().average_frame_rate;
  const bulkhead_rational unit = demuxer_.facts().time_base;
  if (end == BULKHEAD_NO_TIMESTAMP || latest_end_ == BULKHEAD_NO_TIMESTAMP ||
      end <= latest_end_ || rate.numerator <= 0 || rate.denominator <= 0 ||
      unit.numerator <= 0 || unit.denominator <= 0) {
    return 0;
  }
  const __int128 frames = (__int128{end} - latest_end_) * unit.numerator *
                          rate.numerator /
                          (__int128{unit.denominator} * rate.denominator);
  return static_cast<uint64_t>(std::min<__int128>(frames, kMostMissing));
}

std::optional<Loss> PacketTrail::End() const {
  // The host itself reports a file that has become shorter.
  if (demuxer_.shrank()) return std::nullopt;
  const demux::MissingEnd missing = demuxer_.missing_end();
  Loss loss{.pts = latest_end_,
            .duration = 0,
            .position = -1,
            .packets = 1,
            .not_in_index = true,
            .end_position = demuxer_.size()};
  if (!missing.error.empty()) {
    loss.sign = ipc::DamageSign::kStopped;
    loss.position = std::min(missing.byte, demuxer_.size() - 1);
    return loss;
  }
  loss.sign = ipc::DamageSign::kCutOff;
  loss.declared_size = missing.declared_size;
  loss.packets = std::min(missing.packets, kMostMissing);
  if (loss.packets == 0 && missing.declared_size > 0) {
    loss.packets = FramesUntil(missing.end);
  }
  if (loss.packets > 0) {
    if (missing.end != BULKHEAD_NO_TIMESTAMP &&
        loss.pts != BULKHEAD_NO_TIMESTAMP &&
        __builtin_sub_overflow(missing.end, loss.pts, &loss.duration)) {
      loss.duration = 0;
    }
    loss.duration = std::max<int64_t>(loss.duration, 0);
    return loss;
  }
  if (missing.ends_in_packet) {
    return NoteOfLast(ipc::DamageSign::kEndsInPacket);
  }
  if (missing.is_of_stream && FramesUntil(missing.end) >= kLeastGap) {
    return NoteOfGap({.pts = latest_end_, .position = last_position_});
  }
  if (last_is_marked_) return NoteOfLast(ipc::DamageSign::kMarked);
  return std::nullopt;
}

}  // namespace bulkhead::worker::decode
