// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstdint>
#include <optional>

#include "backends/worker/media/damage/packet_role.h"

namespace bulkhead::worker::damage {

// Finds the packets that show nothing because the stream's beginning is
// missing: the stream was cut (`ffmpeg -ss 5 -c copy`), or recorded from a
// broadcast. Pictures that refer to missing packets cannot be decoded. Decoders
// leave them out silently, and they do not count as lost frames.
//
//     StreamStart start(codec_id, StreamStart::Before::kNothing);
//     if (start.LeavesOut(role, type, count)) ...  // every packet
//
// These packets are left out:
//   HEVC: RASL pictures (leading pictures that refer to packets before their
//     entry) whose entry is the first CRA picture, a BLA picture, or the first
//     CRA picture after an end of sequence (ITU-T H.265, section 8.1.3,
//     NoRaslOutputFlag). If a RASL picture is shown after the last entry, its
//     own entry was lost, and it is not left out;
//   MPEG-1 and MPEG-2: packets before the first I-picture. In an open group of
//     pictures, also B-pictures before the second picture that others refer to;
//   MPEG-4: B-pictures before the second picture that others refer to;
//   H.264: pictures that are decoded or shown before the first entry: an IDR
//     picture, a recovery point whose refresh is complete, or an I-picture.
//
// StreamStart leaves nothing out of these streams:
//   - streams of other codecs;
//   - H.264 and MPEG that begin with unreadable headers, which may be damage;
//   - H.264 after a seek to a packet that is no entry.
//
// The packets are hostile; at worst, the answer is wrong. A value type.
class StreamStart {
 public:
  // The event before the first packet: nothing, or a seek.
  enum class Before { kNothing, kSeek };

  StreamStart(int codec, Before before) : codec_(codec), before_(before) {}

  // H.264: returns the picture order count of the packet taken last if it is
  // the first entry and no IDR picture; nullopt in other cases. Pictures that
  // were left out before the entry and have a higher count are shown after the
  // entry, so a decoder does show them.
  std::optional<int> entry_count() const;

  // Returns whether packets of H.264 or MPEG may still be left out.
  bool awaits_entry() const;

  // Takes the next packet. Returns whether it is left out. `type` is the type
  // of its picture (AVPictureType), `count` its picture order count, or
  // INT_MIN.
  bool LeavesOut(const PacketRole& role, int type, int count);

 private:
  bool LeavesOutHevc(const PacketRole& role, int count);
  bool LeavesOutMpeg(const PacketRole& role, int type);
  bool LeavesOutH264(const PacketRole& role, int type, int count);
  bool IsEntry(const PacketRole& role, int type);

  int codec_;
  Before before_;
  bool left_out_ = false;  // the previous packet was left out
  bool settled_ = false;   // no further packet will be left out
  // HEVC: no entry has come since the beginning or the last end of sequence.
  bool sequence_ended_ = true;
  bool lacks_leading_ = true;  // HEVC: now RASL pictures cannot be decoded
  // HEVC: the picture order count of the last entry, INT_MIN if unknown.
  int leads_to_ = INT_MIN;
  bool is_first_ = true;       // MPEG: the next packet is the first
  int references_ = 0;         // MPEG: number of pictures that others refer to
  bool closed_ = false;        // MPEG: the group of pictures is closed
  bool entered_ = false;       // H.264: an entry has come
  int entry_count_ = 0;        // H.264: the picture order count of the entry
  int after_entry_ = 0;        // H.264: number of packets after the entry
  uint32_t refresh_left_ = 0;  // H.264: pictures until the refresh is complete
};

}  // namespace bulkhead::worker::damage
