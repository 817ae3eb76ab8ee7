// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/sdk/bulkhead_backend.h"

struct AVCodecParameters;

namespace bulkhead::worker::damage {

// The role of a packet: which packets it refers to, and which may refer to it,
// as far as its headers say so.
struct PacketRole {
  // True if decoding may begin here (a random access point): later packets
  // refer to no packet before this one. Only leading pictures, which are sent
  // after this packet and shown before its picture, may do so (open GOP).
  bool entry = false;
  // H.264: true for an entry that the stream itself declares (an IDR, or a
  // recovery point with count 0) and whose slices are all intra coded. After
  // any other entry, which may rest on the container's flag alone, later
  // pictures may differ from those of a decoder that began earlier.
  bool exact = false;
  // True for an entry after which no packet, not even a leading picture,
  // refers to earlier packets (closed GOP).
  bool closed = false;
  // True if the container says that decoding may begin here.
  bool keyframe = false;
  // True if other packets may refer to this one, or if that is not known.
  bool referred = true;
  // True for a B-picture: one that is shown before a picture that was sent
  // before it. In HEVC, true for a picture to which no other picture refers.
  bool b_picture = false;
  // True if the container says that no packet refers to this one. Set by
  // HeldPictures.
  bool disposable = false;
  // HEVC: true for a decodable leading picture (RADL): it is shown before the
  // last entry, but refers to no packet before that entry.
  bool alone = false;
  // H.264: above 0 for a recovery point with a gradual refresh. Decoding may
  // begin here, but pictures are complete only after this many further
  // reference pictures.
  uint32_t refresh = 0;
  // HEVC: true for an IDR or BLA picture, or the first picture after the end of
  // a sequence. No later packet can use earlier packets, so RASL pictures that
  // follow cannot be decoded.
  bool begins_sequence = false;
  // HEVC: true if the sequence ends after this packet.
  bool ends_sequence = false;
  // HEVC: true for a skipped leading picture (RASL): it is shown before the
  // last entry, and refers to packets before that entry.
  bool skipped_leading = false;
  // HEVC: true if the picture has more than one slice.
  bool sliced = false;
  // H.264: true for a second field, which belongs to the picture of the packet
  // before. Set by PacketInspector.
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
// In H.264 and HEVC, headers of NAL units say which pictures are entries and
// which are referred to. In the MPEG family, the types of pictures say so. In
// other codecs only the keyframes are known, so each picture counts as referred
// to. That is right in VP8, VP9 and AV1 even for a frame from which no picture
// is predicted: the next frame inherits its probabilities or motion vectors.
// If all pictures of a codec are intra coded, each packet is an entry.
//
// The packets are hostile; at worst, a role is wrong. A value type.
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
  // The size in bytes of a NAL unit's length prefix; 0 means start codes.
  uint32_t length_bytes_ = 0;
  // The highest temporal sub-layer of HEVC; -1: unknown.
  int highest_layer_ = -1;
};

}  // namespace bulkhead::worker::damage
