// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/damage/packet_role.h"
#include "backends/worker/media/damage/shown_packets.h"
#include "backends/worker/media/damage/stream_start.h"

struct AVCodecContext;
struct AVCodecParameters;
struct AVCodecParserContext;

namespace bulkhead::worker::damage {

// Predicts from the headers of packets, without decoding, which packets yield a
// picture, and whether their timestamps follow the order in which a decoder
// outputs the pictures.
//
//     auto inspector = PacketInspector::Create(codec_parameters);
//     const bool counts = inspector->Inspect(packet);   // every packet
//     if (!inspector->ordered()) ...                    // times are unusable
//
// Some packets yield no picture and are no loss: packets that show none by
// design (shown_packets.h), the second field of an H.264 picture, and packets
// that cannot be decoded because the stream's beginning was cut off
// (stream_start.h).
//
// In some files the order of the timestamps is not the order of the pictures (a
// muxer's jitter). libavcodec then guesses timestamps, and the guess depends on
// where decoding began. So timestamps are checked in H.264, HEVC, the MPEG
// family and codecs that do not reorder pictures. In other codecs that reorder
// pictures, timestamps are assumed to be right.
//
// The packets are hostile; libavcodec's parsers read them inside the sandbox.
// Used by one thread.
class PacketInspector {
 public:
  static std::unique_ptr<PacketInspector> Create(
      const AVCodecParameters& parameters);
  PacketInspector(const PacketInspector&) = delete;
  PacketInspector& operator=(const PacketInspector&) = delete;
  ~PacketInspector();

  // Returns whether a decoder yields a picture for `packet` if the packet is
  // not damaged.
  bool Inspect(const bulkhead_packet& packet);

  // Returns whether the packet inspected last cannot be decoded because the
  // stream's beginning was cut off (stream_start.h). If a decoder gives a
  // picture for the packet all the same, the picture is dropped.
  bool left_out() const { return left_out_; }

  // A packet of H.264 for which left_out() was true, but whose picture turns
  // out to be shown after the first entry (the first packet at which decoding
  // may begin). A decoder does show that picture, so it counts after all.
  struct LatePacket {
    int count;  // picture order count
    int64_t pts;
    int64_t dts;
    int64_t duration;
    int64_t position;
    uint32_t flags;
  };
  // Returns the late packets if the packet inspected last is the first entry;
  // none after any other packet.
  const std::vector<LatePacket>& late() const { return late_; }

  // Returns the role of the packet inspected last.
  const PacketRole& role() const { return role_; }

  // Returns whether the packet inspected last makes libavcodec drop the picture
  // that it holds back, so that nobody sees that picture (shown_packets.h).
  bool drops_held() const { return shown_.drops_held(); }

  // Returns whether some packet so far had several pictures (shown_packets.h).
  bool has_packed() const { return shown_.has_packed(); }

  // Returns whether some packet so far was a keyframe with intact headers. A
  // decoder that takes such a packet without an error has a picture to show.
  // Known for H.264, HEVC, VP8 and VP9; always false for other codecs.
  bool met_keyframe() const { return met_keyframe_; }

  // Returns false once timestamps have contradicted the order of the pictures.
  bool ordered() const { return ordered_; }

  // Must be called before the first packet after a seek.
  void Restart();

 private:
  // The source of the display order of pictures.
  enum class Reordering {
    kUnknown,  // the order is not known
    kNone,     // it is the decoding order
    kByCount,  // picture order counts
    kByType    // picture types: a B-picture precedes the last I- or P-picture
  };
  struct Picture {
    int count;  // picture order count
    int64_t pts;
  };

  explicit PacketInspector(const AVCodecParameters& parameters);

  // Runs libavcodec's parser over the packet.
  void Parse(const bulkhead_packet& packet);
  // Updates early_ and late_. `count` is the picture order count.
  void NoteLeftOut(const bulkhead_packet& packet, int count);
  // Returns whether the packet shows a picture, damage and cuts aside.
  bool Shows(const bulkhead_packet& packet);
  bool IsKeyframe(const bulkhead_packet& packet) const;
  bool IsSecondField();
  // Clear ordered_ if `pts` contradicts the order of the pictures. CheckCount()
  // takes that order from the pictures' counts, CheckType() from their types.
  void CheckCount(int64_t pts);
  void CheckType(int64_t pts);

  AVCodecContext* context_ = nullptr;
  AVCodecParserContext* parser_ = nullptr;  // null if the codec has no parser
  const int codec_;
  RoleReader roles_;
  ShownPackets shown_;
  PacketRole role_;
  StreamStart start_;
  bool left_out_ = false;
  std::vector<LatePacket> early_;  // packets left out before the first entry
  std::vector<LatePacket> late_;
  Reordering reordering_ = Reordering::kUnknown;
  bool ordered_ = true;
  bool met_keyframe_ = false;
  // The parity of a first field whose second field has not come yet, or 0.
  int open_field_ = 0;
  // Recent pictures of the current coded sequence, in decoding order.
  std::vector<Picture> recent_;
  // The largest timestamp so far, and the largest of earlier coded sequences.
  int64_t latest_ = INT64_MIN;
  int64_t floor_ = INT64_MIN;
};

}  // namespace bulkhead::worker::damage
