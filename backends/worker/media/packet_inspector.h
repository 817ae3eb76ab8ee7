// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"

struct AVCodecContext;
struct AVCodecParameters;
struct AVCodecParserContext;

namespace bulkhead::worker {

// What the packets of a stream will show, as far as their headers tell without
// decoding: which of them yield a picture, and whether their timestamps follow
// the order in which a decoder puts the pictures out.
//
//     auto inspector = PacketInspector::Create(codec_parameters);
//     const bool counts = inspector->Inspect(packet);   // every packet
//     if (!inspector->ordered()) ...                    // times mean nothing
//
// Some packets show nothing and are no loss: hidden reference frames of VP8 and
// VP9, and the second field of an H.264 picture. Some files tell timestamps in
// another order than that of the pictures (a muxer's jitter): then libavcodec
// guesses, and what it guesses depends on where decoding began. H.264, HEVC and
// the MPEG family are checked for that; other codecs with pictures out of order
// are taken to be right.
//
// The packets are hostile: libavcodec's parsers read them, in the sandbox. One
// thread.
class PacketInspector {
 public:
  static std::unique_ptr<PacketInspector> Create(
      const AVCodecParameters& parameters);
  PacketInspector(const PacketInspector&) = delete;
  PacketInspector& operator=(const PacketInspector&) = delete;
  ~PacketInspector();

  // Whether a decoder yields a picture for `packet`, if it is sound.
  bool Inspect(const bulkhead_packet& packet);

  // False once timestamps contradicted the order of the pictures.
  bool ordered() const { return ordered_; }

  // Before the first packet after a seek.
  void Restart();

 private:
  enum class Reordering { kUnknown, kByCount, kByType };
  struct Picture {
    int count;  // picture order count
    int64_t pts;
  };

  PacketInspector() = default;

  void Parse(const bulkhead_packet& packet);
  bool IsSecondField();
  void CheckCount(int64_t pts);
  void CheckType(int64_t pts);

  AVCodecContext* context_ = nullptr;
  AVCodecParserContext* parser_ = nullptr;  // null: the codec has none
  int codec_ = 0;
  Reordering reordering_ = Reordering::kUnknown;
  bool ordered_ = true;
  int open_field_ = 0;  // parity of a first field that waits for its second
  std::vector<Picture> recent_;  // of this coded sequence, in decoding order
  int64_t latest_ = INT64_MIN;   // timestamp so far
  int64_t floor_ = INT64_MIN;    // of the coded sequences before this one
};

}  // namespace bulkhead::worker
