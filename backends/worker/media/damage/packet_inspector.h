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

namespace bulkhead::worker {

// Predicts from the headers of packets, without decoding, which packets yield a
// picture, and whether their timestamps follow the order in which a decoder
// outputs the pictures.
//
//     auto inspector = PacketInspector::Create(codec_parameters);
//     const bool counts = inspector->Inspect(packet);   // every packet
//     if (!inspector->ordered()) ...                    // times are unusable
//
// Some packets yield no picture and are no loss: those that show none by design
// (shown_packets.h), the second field of an H.264 picture, and what cannot be
// decoded because the stream begins in its middle (stream_start.h). Some files
// have timestamps in another order than their pictures (a muxer's jitter);
// libavcodec then guesses timestamps, and the guess depends on where decoding
// began. Timestamps are checked for that in H.264, HEVC, the MPEG family and
// codecs that do not reorder pictures; in other codecs that do they are assumed
// to be right.
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

  // Returns whether the packet inspected last cannot be decoded because of
  // where the stream begins. If a decoder gives a picture for it, it does not
  // count.
  bool left_out() const { return left_out_; }

  // A packet that was left out, though it is shown after the entry that was
  // inspected last: it refers to pictures that are whole in the end.
  struct LatePacket {
    int count;  // picture order count
    int64_t pts;
    int64_t dts;
    int64_t duration;
    int64_t position;
    uint32_t flags;
  };
  // Returns those that the packet inspected last has made known. They show
  // pictures.
  const std::vector<LatePacket>& late() const { return late_; }

  // Returns what other packets need of the packet inspected last.
  const PacketRole& role() const { return role_; }

  // Returns whether libavcodec drops the last picture that others may refer to
  // before it decodes the packet inspected last (shown_packets.h).
  bool drops_held() const { return shown_.drops_held(); }

  // Returns whether pictures were packed after others (shown_packets.h).
  bool has_packed() const { return shown_.has_packed(); }

  // Returns true once there was a keyframe whose headers are sound. A decoder
  // that takes such a packet without an error has a picture to show. Only for
  // H.264, HEVC, VP8 and VP9; else always false.
  bool met_keyframe() const { return met_keyframe_; }

  // Returns false once timestamps have contradicted the order of the pictures.
  bool ordered() const { return ordered_; }

  // Must be called before the first packet after a seek.
  void Restart();

 private:
  enum class Reordering { kUnknown, kNone, kByCount, kByType };
  struct Picture {
    int count;  // picture order count
    int64_t pts;
  };

  explicit PacketInspector(const AVCodecParameters& parameters);

  void Parse(const bulkhead_packet& packet);
  void NoteLeftOut(const bulkhead_packet& packet, int count);
  bool Shows(const bulkhead_packet& packet);
  bool IsKeyframe(const bulkhead_packet& packet) const;
  bool IsSecondField();
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
  std::vector<LatePacket> early_;  // left out, before the entry
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

}  // namespace bulkhead::worker
