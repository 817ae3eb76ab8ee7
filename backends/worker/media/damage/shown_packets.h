// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "backends/sdk/bulkhead_backend.h"

struct AVCodecParameters;

namespace bulkhead::worker {

// Finds by the headers of a stream's packets which of them show a picture.
//
//     ShownPackets shown(codec_parameters);
//     const bool counts = shown.Read(packet);   // every packet, in their order
//
// These show none, so that no frame is missing where none comes out:
//   VP8, VP9, AV1: frames that only others refer to;
//   MPEG-4: VOPs that are not coded, unless they stand for a picture that was
//     packed into a packet before (DivX, XviD), and XviD's delay chunk;
//   MPEG-1, MPEG-2: the end of a sequence. A sequence header that changes the
//     picture makes libavcodec drop the one that it holds back (drops_held());
//   Dirac: units that are no picture, such as the end of a sequence;
//   Theora: the headers of a stream that was joined to another one.
// H.264 and HEVC are RoleReader's. Packets of other codecs show one each, and
// so does a packet whose headers cannot be read.
//
// The packets are hostile; the answer is wrong at worst. A value type.
class ShownPackets {
 public:
  explicit ShownPackets(const AVCodecParameters& parameters);

  bool Read(const bulkhead_packet& packet);
  // Returns whether libavcodec drops the picture that it holds back, which is
  // the last one that others may refer to, before it decodes the packet that
  // was read last.
  bool drops_held() const { return drops_held_; }
  // Returns whether pictures were packed after others (MPEG-4). Each of them
  // has the timestamp of another packet then.
  bool has_packed() const { return has_packed_; }
  // Forgets what the decoder holds back, for a seek.
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
  bool is_reduced_ = false;  // AV1: the headers are a still picture's
  // MPEG-4: the bits of the time in the header of a VOP, 0: unknown.
  int time_bits_ = 0;
  bool packs_ = false;  // the encoder packs a B-picture after another picture
  bool holds_packed_ = false;  // one is kept for the next packet
  bool has_packed_ = false;
  // MPEG-2: what of the sequence header makes libavcodec begin anew.
  std::array<uint8_t, 6> sequence_{};
  bool has_sequence_ = false;
  bool is_delayed_ = true;  // MPEG-2: pictures that others refer to are held
  bool holds_ = false;      // MPEG-2: there is one
  bool drops_held_ = false;
};

}  // namespace bulkhead::worker
