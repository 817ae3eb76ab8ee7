// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/damage/packet_role.h"
#include "backends/worker/media/demux/carried_state.h"
#include "backends/worker/media/demux/codec_access.h"

struct AVCodecParameters;

namespace bulkhead::worker::demux {

// Identifies one packet among all packets of its file.
struct PacketMark {
  int64_t timestamp;  // for a seek: the pts, or the dts if there is no pts
  int64_t position;   // byte offset in the file, -1 if unknown
  uint32_t check;     // hash of its bytes and its palette; never 0

  bool operator==(const PacketMark&) const = default;
};
PacketMark MarkOf(const bulkhead_packet& packet);

// Finds the points of access (random access points) of a stream: the packets at
// which a new decoder that knows the stream's extradata may begin. From such a
// packet on, the decoder gives the same pictures, bit for bit, as a pass from
// the first packet. Only leading pictures, which are shown before the packet's
// own picture, may differ.
//
//     AccessPoints points(codec_parameters);
//     if (points.Read(packet, role)) ...   // every packet, in decoding order
//
// A packet is a point of access if three conditions hold:
//   - its own headers say so (codec_access.h);
//   - the extradata and the packet alone set all state (carried_state.h);
//   - no earlier packet's picture is shown after the packet's own.
// The container's keyframe flag is not used. If a stream has no known point of
// access, decoding begins at the first packet, which is slower and correct.
//
// The packets are hostile; at worst, the answer is wrong. A value type.
class AccessPoints {
 public:
  explicit AccessPoints(const AVCodecParameters& parameters);

  // Reads the next packet. Returns whether it is a point of access. `role` is
  // the packet's role (PacketInspector::role).
  bool Read(const bulkhead_packet& packet_untrusted,
            const damage::PacketRole& role);

  // Returns whether a flush is as good as a new decoder before `packet`: after
  // all packets so far and a flush, a decoder gives the same pictures from
  // `packet` on as a new decoder.
  bool FlushSufficesFor(const bulkhead_packet& packet_untrusted) const;
  // Returns whether a packet read so far makes libavcodec's pictures depend on
  // the number of its threads. HEVC packets with several slices or with film
  // grain (CarriedState) do so.
  bool depends_on_threads() const {
    return sliced_ || state_.depends_on_threads();
  }
  // Forgets the order of pictures; for a seek. The next packet must be a point
  // of access. After any other packet, the answers mean nothing.
  void Restart() { latest_ = INT64_MIN; }

 private:
  bool IsIntra(const bulkhead_packet& packet,
               const damage::PacketRole& role) const;

  int codec_;
  CodecAccess access_;
  CarriedState state_;
  bool sliced_ = false;         // a picture of HEVC had several slices
  int64_t latest_ = INT64_MIN;  // the greatest timestamp of an earlier packet
};

}  // namespace bulkhead::worker::demux
