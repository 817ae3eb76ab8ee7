// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/access_points.h"

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::worker::demux {

namespace {

// The most bytes of a packet that are hashed, since a raw picture may have
// dozens of megabytes. Half of them are the packet's first bytes, half its
// last.
constexpr size_t kHashedBytes = 1 << 16;

}  // namespace

PacketMark MarkOf(const bulkhead_packet& packet) {
  const size_t half = std::min(packet.bytes, kHashedBytes) / 2;
  uint64_t bytes_hash = XXH3_64bits_withSeed(
      packet.data, packet.bytes > kHashedBytes ? half : packet.bytes,
      packet.bytes);
  if (packet.bytes > kHashedBytes) {
    bytes_hash = XXH3_64bits_withSeed(packet.data + packet.bytes - half, half,
                                      bytes_hash);
  }
  // Palettes are hashed too, since some demuxers give a palette only once, and
  // not again after a seek.
  for (size_t i = 0; i < packet.side_data_count; ++i) {
    const bulkhead_side_data& data = packet.side_data[i];
    if (!CarriedState::Carries(data)) continue;
    bytes_hash = XXH3_64bits_withSeed(data.data, data.bytes, bytes_hash);
  }
  const auto hash = static_cast<uint32_t>(bytes_hash);
  return {.timestamp =
              packet.pts != BULKHEAD_NO_TIMESTAMP ? packet.pts : packet.dts,
          .position = packet.position,
          .check = std::max<uint32_t>(hash, 1)};
}

AccessPoints::AccessPoints(const AVCodecParameters& parameters)
    : codec_(parameters.codec_id),
      access_(AccessOf(parameters.codec_id)),
      state_(parameters) {}

bool AccessPoints::Read(const bulkhead_packet& packet,
                        const damage::PacketRole& role) {
  if (access_ == CodecAccess::kFirst) return false;
  const bool has_own_state = state_.Read(packet);
  sliced_ = sliced_ || role.sliced;
  // False if a picture of an earlier packet is shown after this packet's.
  const bool is_late = packet.pts > latest_;
  latest_ = std::max(latest_, packet.pts);
  constexpr uint32_t kUnfit = BULKHEAD_PACKET_CORRUPT | BULKHEAD_PACKET_DISCARD;
  return has_own_state && is_late && packet.pts != BULKHEAD_NO_TIMESTAMP &&
         (packet.flags & kUnfit) == 0 && IsIntra(packet, role);
}

bool AccessPoints::FlushSufficesFor(const bulkhead_packet& packet) const {
  if (!FlushSuffices(codec_)) return false;
  CarriedState next = state_;
  return next.Read(packet);
}

bool AccessPoints::IsIntra(const bulkhead_packet& packet,
                           const damage::PacketRole& role) const {
  switch (access_) {
    case CodecAccess::kFirst:
      return false;
    case CodecAccess::kEach:
      return true;
    case CodecAccess::kBits:
      return IsIntraByItsBits(codec_, {packet.data, packet.bytes});
    case CodecAccess::kRoles:
      break;
  }
  if (role.second_field || !role.has_picture) return false;
  return codec_ == AV_CODEC_ID_H264 ? role.exact : role.entry;
}

}  // namespace bulkhead::worker::demux
