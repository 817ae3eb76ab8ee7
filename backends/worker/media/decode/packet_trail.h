// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/damage/packet_role.h"
#include "backends/worker/media/damage/timestamp_gaps.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/damage_sign.h"
#include "ipc/loss.h"

namespace bulkhead::worker::decode {

// Finds irregularities that cost no picture, for notes: packets that
// libavformat calls corrupt, and gaps between timestamps. At the end of the
// stream, finds out whether the file was cut off, and how many frames are then
// missing. Remembers the last packet that was read, also for error messages.
//
//     for (const Loss& note : trail.Read(packet, role)) Report(note);
//     for (const Loss& loss : trail.AtEnd()) Report(loss);
//
// Timestamps and headers are hostile; at worst, the numbers are wrong. Used by
// one thread.
class PacketTrail {
 public:
  // Borrows `demuxer`, which reads the packets.
  explicit PacketTrail(const demux::Demuxer& demuxer);

  // Must be called before the first packet after a seek.
  void Restart();
  // Takes the next packet. Returns a note about the previous packet if
  // libavformat calls that one corrupt (AtEnd judges the last packet of the
  // stream), and a note about a packet after a gap (TimestampGaps).
  std::vector<ipc::Loss> Read(const bulkhead_packet& packet,
                              const damage::PacketRole& role);
  // Returns the notes about the remaining gaps, and the loss or the note about
  // the end of the stream, if there is one. Call this once the demuxer has no
  // further packet.
  std::vector<ipc::Loss> AtEnd();
  // Returns the place of the last packet, to append to a message: ", the last
  // with timestamp 1024, byte 48 of the file".
  std::string PlaceOfLast() const;

 private:
  // Returns the loss or the note about the end of the stream, if there is one.
  std::optional<ipc::Loss> End() const;
  // Returns a note about the last packet.
  ipc::Loss NoteOfLast(ipc::DamageSign sign) const;
  // Returns how many whole frames fit between latest_end_ and `end`, the end of
  // the stream according to the file's header.
  uint64_t FramesUntil(int64_t end) const;

  const demux::Demuxer& demuxer_;
  damage::TimestampGaps gaps_;
  int64_t last_pts_ = BULKHEAD_NO_TIMESTAMP;
  int64_t last_duration_ = 0;
  int64_t last_position_ = -1;
  bool last_is_marked_ = false;  // libavformat calls the last packet corrupt
  int64_t latest_end_ = BULKHEAD_NO_TIMESTAMP;  // of all packets since Restart
};

}  // namespace bulkhead::worker::decode
