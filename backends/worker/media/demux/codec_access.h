// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace bulkhead::worker {

// How it is known of a packet that a new decoder, which has the stream's
// extradata and gets the packets from this one on, gives the pictures of a
// decoder that began at the first packet.
enum class CodecAccess {
  kFirst,  // it is known of the first packet only
  kEach,   // it is true of each packet: all pictures are intra coded
  kRoles,  // the headers of the packet say it: PacketRole
  kBits,   // the first bits of the packet say it: IsIntraByItsBits()
};

// Returns how it is known of the packets of a codec (AVCodecID). What a
// container calls a keyframe is no way: containers without an index, raw
// streams, MP4 without a table of sync samples and several muxers call every
// packet one.
CodecAccess AccessOf(int codec);

// Returns whether a decoder of the codec that is flushed is as good as a new
// one where decoding may begin. libavcodec's decoders of old and rare codecs
// know no flush.
bool FlushSuffices(int codec);

// Returns whether the first bits of a packet of a codec with kBits say that its
// picture refers to no earlier one, and that no later picture refers to one
// before it.
bool IsIntraByItsBits(int codec, std::span<const uint8_t> packet_untrusted);

}  // namespace bulkhead::worker
