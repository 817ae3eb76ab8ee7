// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/damage/packet_role.h"
#include "backends/worker/media/demux/carried_state.h"
#include "backends/worker/media/demux/codec_access.h"

struct AVCodecParameters;

namespace bulkhead::worker {

// Identifies one packet among all of its file.
struct PacketMark {
  int64_t timestamp;  // the one by which a seek goes
  int64_t position;   // byte offset in the file, -1 if unknown
  uint32_t check;     // of its bytes and its palette; never 0

  bool operator==(const PacketMark&) const = default;
};
PacketMark MarkOf(const bulkhead_packet& packet);

// Finds the points of access of a stream: the packets at which a decoder that
// knows the stream's extradata may begin and gives the pictures that a pass
// from the first packet gives, bit for bit, but for those that are shown before
// this packet's.
//
//     AccessPoints points(codec_parameters);
//     if (points.Read(packet, role)) ...   // every packet, in decoding order
//
// A packet is one if its own headers say so (codec_access.h), the state that is
// in force there is set by the extradata and by itself (carried_state.h), and
// no picture before it is shown after it. What a container calls a keyframe
// counts for nothing. Where nothing is known, decoding begins at the first
// packet: that is slower, and right.
//
// The packets are hostile; the answer is wrong at worst. A value type.
class AccessPoints {
 public:
  explicit AccessPoints(const AVCodecParameters& parameters);

  // `role` is the packet's (PacketInspector::role).
  bool Read(const bulkhead_packet& packet_untrusted, const PacketRole& role);

  // Returns whether the decoder that got all packets which were read, flushed,
  // is as good as a new one if `packet` comes next.
  bool FlushSufficesFor(const bulkhead_packet& packet_untrusted) const;
  // Returns whether what was read makes libavcodec's pictures depend on the
  // number of its threads: HEVC's do if they have several slices, and if film
  // grain is described (CarriedState).
  bool depends_on_threads() const {
    return sliced_ || state_.depends_on_threads();
  }
  // Forgets the order of pictures, for a seek. The next packet must be a point
  // of access, or the answers about later ones mean nothing.
  void Restart() { latest_ = INT64_MIN; }

 private:
  bool IsIntra(const bulkhead_packet& packet, const PacketRole& role) const;

  int codec_;
  CodecAccess access_;
  CarriedState state_;
  bool sliced_ = false;         // a picture of HEVC
  int64_t latest_ = INT64_MIN;  // the greatest timestamp of an earlier packet
};

}  // namespace bulkhead::worker
