// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstdint>
#include <optional>

#include "backends/worker/media/damage/packet_role.h"

namespace bulkhead::worker {

// Says which packets show nothing because the stream begins in its middle: it
// was cut (`ffmpeg -ss 5 -c copy`), or recorded from a broadcast. Pictures that
// refer to what was in front of the beginning cannot be decoded. Decoders leave
// them out in silence, and they are no lost frames.
//
//     StreamStart start(codec_id, StreamStart::Behind::kNothing);
//     if (start.LeavesOut(role, type, count)) ...  // every packet
//
// Left out are
//   HEVC: RASL pictures after the first CRA picture, after a BLA picture, and
//     after the first CRA picture after an end of sequence (ITU-T H.265,
//     section 8.1.3, NoRaslOutputFlag), unless they are shown after it: then
//     the picture that they belong to is lost;
//   MPEG-1 and MPEG-2: what comes before the first I-picture, and B-pictures
//     before the second picture that others refer to, unless their group of
//     pictures is closed;
//   MPEG-4: B-pictures before the second picture that others refer to;
//   H.264: what is decoded or shown before the first entry: an IDR picture, a
//     recovery point whose refresh is complete, or an I-picture.
// Streams of H.264 and MPEG that do not begin with sound headers leave nothing
// out, since that may be damage; nor do streams of other codecs. After a seek,
// a stream of H.264 leaves nothing out before its entry.
//
// The packets are hostile; the answer is wrong at worst. A value type.
class StreamStart {
 public:
  // Says what was before the first packet: nothing, or a seek.
  enum class Behind { kNothing, kSeek };

  StreamStart(int codec, Behind behind) : codec_(codec), behind_(behind) {}

  // Returns the picture order count of the entry of H.264 that was taken last,
  // if it is not an IDR picture. Pictures that were left out before it and have
  // a higher count are shown after it after all.
  std::optional<int> entry_count() const;

  // Returns whether packets may still be left out because no entry has come.
  bool awaits_entry() const;

  // Takes the next packet. `type` is the type of its picture (AVPictureType),
  // `count` its picture order count, or INT_MIN.
  bool LeavesOut(const PacketRole& role, int type, int count);

 private:
  bool LeavesOutHevc(const PacketRole& role, int count);
  bool LeavesOutMpeg(const PacketRole& role, int type);
  bool LeavesOutH264(const PacketRole& role, int type, int count);
  bool IsEntry(const PacketRole& role, int type);

  int codec_;
  Behind behind_;
  bool left_out_ = false;  // the packet before
  bool settled_ = false;   // nothing is left out any more
  // HEVC: a sequence has ended before this packet.
  bool sequence_ended_ = true;
  bool lacks_leading_ = true;  // HEVC: RASL pictures
  // HEVC: the picture order count of the last entry, INT_MIN if unknown.
  int leads_to_ = INT_MIN;
  bool is_first_ = true;       // MPEG: the next packet
  int references_ = 0;         // MPEG: pictures that others refer to
  bool closed_ = false;        // MPEG: the group of pictures
  bool entered_ = false;       // H.264
  int entry_count_ = 0;        // H.264: the picture order count of the entry
  int behind_entry_ = 0;       // H.264: packets
  uint32_t refresh_left_ = 0;  // H.264: pictures that others refer to
};

}  // namespace bulkhead::worker
