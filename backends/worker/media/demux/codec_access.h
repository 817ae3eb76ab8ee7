// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace bulkhead::worker::demux {

// The packets of a codec at which a new decoder may begin. The decoder has the
// stream's extradata, and its pictures must equal the pictures of a decoder
// that began at the first packet.
enum class CodecAccess {
  kFirst,  // only the first packet
  kEach,   // each packet, since all pictures are intra coded
  kRoles,  // the packets whose headers say so: PacketRole
  kBits,   // the packets whose first bits say so: IsIntraByItsBits()
};

// Returns where decoders of a codec (AVCodecID) may begin. The container's
// keyframe flag cannot be used: containers without an index, raw streams, MP4
// without a table of sync samples and several muxers set it for every packet.
CodecAccess AccessOf(int codec);

// Returns whether a flush is as good as a new decoder at packets where decoding
// may begin: both give the same pictures. Returns false for old and rare
// codecs, whose decoders in libavcodec do not implement a flush.
bool FlushSuffices(int codec);

// Returns whether the first bits of a packet say that no picture from this one
// on refers to an earlier picture. For codecs with kBits; false for others.
bool IsIntraByItsBits(int codec, std::span<const uint8_t> packet_untrusted);

}  // namespace bulkhead::worker::demux
