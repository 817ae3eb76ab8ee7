// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"

struct AVCodecParameters;

namespace bulkhead::worker {

// Says what other packets need of a packet, as far as its headers say so.
struct PacketRole {
  // Decoding may begin here: no packet from here on refers to earlier ones,
  // except those whose pictures are shown before this one's.
  bool entry = false;
  // H.264: `entry`, and the stream itself says so: from this one on, its
  // pictures equal an earlier decoder's.
  bool exact = false;
  // With `entry`: no packet at all from here on refers to earlier ones.
  bool closed = false;
  // The container says that decoding may begin here.
  bool keyframe = false;
  // Other packets may refer to this one. True if that is not known.
  bool referred = true;
  // The headers call it a B-picture (HEVC: a picture that nothing refers to),
  // so it is shown before a picture that was sent before it.
  bool b_picture = false;
  // The container says that no packet refers to this one.
  bool disposable = false;
  // Refers to nothing before the last entry, though it is shown before it.
  bool alone = false;
  // Above 0: decoding may begin here, but the pictures are only whole once so
  // many more pictures that others refer to were decoded (intra refresh).
  uint32_t refresh = 0;
  // HEVC: no packet from here on refers to earlier ones, also not those whose
  // pictures are shown before this one's (an IDR or BLA picture, or one after
  // the end of a sequence); they cannot be decoded.
  bool begins_sequence = false;
  // HEVC: the sequence ends after this packet.
  bool ends_sequence = false;
  // HEVC: refers to packets before the last entry, and is shown before it.
  bool skipped_leading = false;
  // HEVC: the picture has more than one slice.
  bool sliced = false;
  // Belongs to the picture of the packet before (a second field).
  bool second_field = false;
  // H.264, HEVC: false for a packet without a picture of the stream's own, such
  // as the end of a sequence or a picture of another layer.
  bool has_picture = true;
};

// Reads the roles of one stream's packets.
//
//     RoleReader roles(codec_parameters);
//     const PacketRole role = roles.Read(packet, type);   // every packet
//
// H.264 and HEVC say in the headers of their NAL units which pictures are
// entries and which are referred to, the MPEG family by the types of pictures.
// The keyframes are all that is known of other codecs, and each picture counts
// as referred to. In VP8, VP9 and AV1 that is also true of a frame that no
// picture is predicted from: the next frame takes over probabilities or motion
// vectors. Where all pictures are intra coded, each packet is an entry.
//
// The packets are hostile; a role is wrong at worst. A value type.
class RoleReader {
 public:
  explicit RoleReader(const AVCodecParameters& parameters);

  // `parsed_type` is the type of picture that libavcodec's parser found, or
  // AV_PICTURE_TYPE_NONE.
  PacketRole Read(const bulkhead_packet& packet, int parsed_type);

 private:
  void ReadH264(const bulkhead_packet& packet, PacketRole& role) const;
  void ReadHevc(const bulkhead_packet& packet, PacketRole& role);

  int codec_;
  bool intra_only_;
  // The bytes of the length before a NAL unit; 0: start codes.
  uint32_t length_bytes_ = 0;
  // The highest temporal sub-layer of HEVC; -1: unknown.
  int highest_layer_ = -1;
};

}  // namespace bulkhead::worker
