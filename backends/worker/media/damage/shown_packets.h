// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "backends/sdk/bulkhead_backend.h"

struct AVCodecParameters;

namespace bulkhead::worker::damage {

// Reads in the headers of a stream's packets which packets show a picture.
//
//     ShownPackets shown(codec_parameters);
//     const bool counts = shown.Read(packet);   // every packet, in their order
//
// These packets show no picture, so none is lost if none comes out:
//   VP8, VP9, AV1: frames that are not shown, but only referred to;
//   MPEG-4: VOPs (pictures) that are not coded, and XviD's delay chunk. A VOP
//     that is not coded does show a picture if an earlier packet contained that
//     picture in addition to its own (packed bitstream of DivX and XviD);
//   MPEG-1, MPEG-2: the end of a sequence. A sequence header that changes the
//     size or aspect makes libavcodec drop the held picture (drops_held());
//   Dirac: units without a picture, such as the end of a sequence;
//   Theora: the headers of a stream that was joined to another one.
// RoleReader decides for H.264 and HEVC. Each packet of other codecs shows a
// picture, and so does a packet whose headers cannot be read.
//
// The packets are hostile; at worst, the answer is wrong. A value type.
class ShownPackets {
 public:
  explicit ShownPackets(const AVCodecParameters& parameters);

  // Reads the next packet. Returns whether it shows a picture.
  bool Read(const bulkhead_packet& packet);
  // Returns whether the packet read last makes libavcodec drop the picture that
  // it holds back: its MPEG-1 or MPEG-2 sequence header has another size or
  // aspect ratio. The held picture is the last one that others may refer to.
  bool drops_held() const { return drops_held_; }
  // MPEG-4: returns whether some packet so far contained a second, packed
  // picture. Such a picture has the timestamp of another packet.
  bool has_packed() const { return has_packed_; }
  // Forgets the picture that the decoder holds back; for a seek.
  void Restart() {
    holds_packed_ = false;
    holds_ = false;
  }

 private:
  using Bytes = std::span<const uint8_t>;

  bool ReadAv1(Bytes packet);
  bool ReadMpeg4(Bytes packet);
  void ReadMpeg4Header(Bytes unit);
  // Returns whether a VOP is coded, as far as the header of its layer is known.
  bool IsCoded(Bytes vop) const;
  bool ReadMpeg2(Bytes packet);

  int codec_;
  bool is_reduced_ = false;  // AV1: reduced_still_picture_header
  // MPEG-4: the number of bits of the time (vop_time_increment) in the header
  // of a VOP; 0 if unknown.
  int time_bits_ = 0;
  bool packs_ = false;         // MPEG-4: the encoder packs B-pictures
  bool holds_packed_ = false;  // MPEG-4: the next packet shows a packed picture
  bool has_packed_ = false;
  // MPEG-2: the bytes of the sequence header whose change makes libavcodec drop
  // the held picture.
  std::array<uint8_t, 6> sequence_{};
  bool has_sequence_ = false;
  bool is_delayed_ = true;  // MPEG-2: pictures that others refer to are held
  bool holds_ = false;      // MPEG-2: a picture is held
  bool drops_held_ = false;
};

}  // namespace bulkhead::worker::damage
