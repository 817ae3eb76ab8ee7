// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/packet_inspector.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::worker::damage {
namespace {

// The number of bytes after a packet that a parser may read.
constexpr size_t kPadding = AV_INPUT_BUFFER_PADDING_SIZE;

class Inspected {
 public:
  explicit Inspected(AVCodecID codec) {
    AVCodecParameters* parameters = avcodec_parameters_alloc();
    parameters->codec_type = AVMEDIA_TYPE_VIDEO;
    parameters->codec_id = codec;
    inspector_ = PacketInspector::Create(*parameters);
    avcodec_parameters_free(&parameters);
  }

  bool Inspect(const std::string& bytes, int64_t pts = BULKHEAD_NO_TIMESTAMP,
               uint32_t flags = 0) {
    const std::string padded = bytes + std::string(kPadding, '\0');
    bulkhead_packet packet{};
    packet.size = sizeof(packet);
    packet.data = reinterpret_cast<const uint8_t*>(padded.data());
    packet.bytes = bytes.size();
    packet.pts = pts;
    packet.dts = BULKHEAD_NO_TIMESTAMP;
    packet.flags = flags;
    return inspector_->Inspect(packet);
  }
  bool ordered() const { return inspector_->ordered(); }
  void Restart() { inspector_->Restart(); }

 private:
  std::unique_ptr<PacketInspector> inspector_;
};

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

// Writes H.264 syntax (ITU-T H.264, section 7.3), only as much as a parser
// needs to find the order of pictures.
class Bits {
 public:
  Bits& U(int count, uint32_t value) {
    for (int i = count - 1; i >= 0; --i) bits_ += (value >> i & 1) ? '1' : '0';
    return *this;
  }
  Bits& Ue(uint32_t value) {
    int length = 0;
    while ((value + 1) >> (length + 1) != 0) ++length;
    return U(length, 0).U(length + 1, value + 1);
  }
  // Returns a NAL unit with its start code. `type` is the header byte.
  std::string Unit(int type) const {
    std::string bits = bits_ + "1";
    while (bits.size() % 8 != 0) bits += '0';
    std::string unit = Bytes({0, 0, 1, type});
    int zeros = 0;
    for (size_t i = 0; i < bits.size(); i += 8) {
      const int byte = std::stoi(bits.substr(i, 8), nullptr, 2);
      if (zeros >= 2 && byte <= 3) {
        unit += '\x03';
        zeros = 0;
      }
      unit += static_cast<char>(byte);
      zeros = byte == 0 ? zeros + 1 : 0;
    }
    return unit;
  }

 private:
  std::string bits_;
};

std::string H264Headers(bool interlaced) {
  Bits sps;
  sps.U(8, 77).U(8, 0).U(8, 10).Ue(0).Ue(0);  // main profile; 4 bits frame_num
  sps.Ue(0).Ue(4).Ue(2).U(1, 0);              // 8 bits of the order count
  sps.Ue(3).Ue(2).U(1, interlaced ? 0 : 1);   // 64x48
  if (interlaced) sps.U(1, 0);
  sps.U(1, 1).U(1, 0).U(1, 0);
  Bits pps;
  pps.Ue(0).Ue(0).U(1, 0).U(1, 0).Ue(0).Ue(0).Ue(0);
  pps.U(1, 0).U(2, 0).Ue(0).Ue(0).Ue(0).U(3, 0);
  return sps.Unit(0x67) + pps.Unit(0x68);
}

enum class Field { kFrame, kTop, kBottom };

std::string H264Picture(bool idr, uint32_t count, Field field = Field::kFrame,
                        bool interlaced = false) {
  Bits slice;
  slice.Ue(0).Ue(idr ? 7 : 5).Ue(0).U(4, idr ? 0 : 1);
  if (interlaced) {
    slice.U(1, field == Field::kFrame ? 0 : 1);
    if (field != Field::kFrame) slice.U(1, field == Field::kBottom ? 1 : 0);
  }
  if (idr) slice.Ue(0);
  slice.U(8, count).U(32, 0).U(32, 0);
  // Pictures other than the keyframe are no references, so their headers need
  // nothing more.
  return (idr ? H264Headers(interlaced) : "") + slice.Unit(idr ? 0x65 : 0x01);
}

// Makes a packet of which the parser reads only the picture type.
std::string Mpeg2Picture(int type) {
  return Bytes({0, 0, 1, 0, 0, type << 3, 0, 0});
}
constexpr int kI = 1;
constexpr int kP = 2;
constexpr int kB = 3;

TEST(PacketInspector, PacketsOfOtherCodecsThatReorderAreTakenToBeRight) {
  Inspected vc1(AV_CODEC_ID_VC1);
  for (const int64_t pts : {5, 3, 4}) EXPECT_TRUE(vc1.Inspect("x", pts));
  EXPECT_TRUE(vc1.ordered());
}

TEST(PacketInspector, CodecsThatDoNotReorderShowPacketsInTheirOrder) {
  const std::string packet = Bytes({0x32, 2, 0x30, 0});  // AV1 shows it, too
  for (const AVCodecID codec :
       {AV_CODEC_ID_FLV1, AV_CODEC_ID_AV1, AV_CODEC_ID_MJPEG}) {
    Inspected inspected(codec);
    for (const int64_t pts : {10, 20, 20, 30}) inspected.Inspect(packet, pts);
    EXPECT_TRUE(inspected.ordered()) << codec;
    inspected.Restart();
    inspected.Inspect(packet, 5);
    EXPECT_TRUE(inspected.ordered()) << "after a seek";
    inspected.Inspect(packet, 2);
    EXPECT_FALSE(inspected.ordered()) << codec;
  }
}

TEST(PacketInspector, TheSecondFieldOfAPictureShowsNothing) {
  Inspected h264(AV_CODEC_ID_H264);
  const auto field = [](bool idr, uint32_t count, Field which) {
    return H264Picture(idr, count, which, true);
  };
  EXPECT_TRUE(h264.Inspect(field(true, 0, Field::kTop), 0));
  EXPECT_FALSE(h264.Inspect(field(false, 1, Field::kBottom), 1));
  EXPECT_TRUE(h264.Inspect(field(false, 4, Field::kBottom), 2));
  EXPECT_FALSE(h264.Inspect(field(false, 5, Field::kTop), 3));
  EXPECT_TRUE(h264.Inspect(field(false, 8, Field::kTop), 4));
  EXPECT_TRUE(h264.Inspect(field(false, 10, Field::kTop), 5))
      << "of the same parity: the second field of the last picture is lost";
  EXPECT_TRUE(h264.Inspect(field(false, 12, Field::kFrame), 6));
}

TEST(PacketInspector, TimesMustFollowTheOrderCounts) {
  Inspected right(AV_CODEC_ID_H264);
  right.Inspect(H264Picture(true, 0), 0);
  right.Inspect(H264Picture(false, 8), 40);
  right.Inspect(H264Picture(false, 4), 20);
  EXPECT_TRUE(right.ordered());
  right.Inspect(H264Picture(false, 6), 19);
  EXPECT_FALSE(right.ordered()) << "it is shown before the one of count 4";
}

TEST(PacketInspector, CountsThatBeginAnewFollowThoseBefore) {
  Inspected h264(AV_CODEC_ID_H264);
  h264.Inspect(H264Picture(true, 0), 0);
  h264.Inspect(H264Picture(false, 8), 40);
  h264.Inspect(H264Picture(true, 0), 60);
  h264.Inspect(H264Picture(false, 8), 80);
  EXPECT_TRUE(h264.ordered());
  h264.Inspect(H264Picture(true, 0), 70);
  EXPECT_FALSE(h264.ordered()) << "the sequence before lasted until 80";
}

TEST(PacketInspector, BPicturesAreShownBeforeTheLastOfAnotherType) {
  Inspected right(AV_CODEC_ID_MPEG2VIDEO);
  for (const auto& [type, pts] : {std::pair<int, int64_t>{kI, 0},
                                  {kP, 3},
                                  {kB, 1},
                                  {kB, 2},
                                  {kP, 6},
                                  {kB, 4}}) {
    EXPECT_TRUE(right.Inspect(Mpeg2Picture(type), pts));
    EXPECT_TRUE(right.ordered()) << pts;
  }
  right.Inspect(Mpeg2Picture(kB), 7);
  EXPECT_FALSE(right.ordered());
  Inspected again(AV_CODEC_ID_MPEG2VIDEO);
  again.Inspect(Mpeg2Picture(kI), 5);
  again.Inspect(Mpeg2Picture(kP), 5);
  EXPECT_FALSE(again.ordered()) << "two at one time";
}

TEST(PacketInspector, WhatIsNotShownHasNoOrder) {
  Inspected mpeg2(AV_CODEC_ID_MPEG2VIDEO);
  mpeg2.Inspect(Mpeg2Picture(kI), 5);
  mpeg2.Inspect(Mpeg2Picture(kP), 1, BULKHEAD_PACKET_DISCARD);
  mpeg2.Inspect(Mpeg2Picture(kP));
  EXPECT_TRUE(mpeg2.ordered());
}

TEST(PacketInspector, ARestartForgetsWhatCameBefore) {
  Inspected mpeg2(AV_CODEC_ID_MPEG2VIDEO);
  mpeg2.Inspect(Mpeg2Picture(kI), 50);
  mpeg2.Restart();
  mpeg2.Inspect(Mpeg2Picture(kI), 10);
  EXPECT_TRUE(mpeg2.ordered());
  mpeg2.Inspect(Mpeg2Picture(kP), 5);
  mpeg2.Restart();
  EXPECT_FALSE(mpeg2.ordered()) << "once is for ever";
}

TEST(PacketInspector, AKeyframeThatIsDamagedDoesNotMakeTheNextOnesDisordered) {
  Inspected h264(AV_CODEC_ID_H264);
  h264.Inspect(H264Picture(true, 0), 0);
  for (uint32_t i = 1; i < 10; ++i) h264.Inspect(H264Picture(false, 2 * i), i);
  h264.Inspect(std::string(40, '\0'), 10);  // the counts begin again
  for (uint32_t i = 1; i < 5; ++i) {
    h264.Inspect(H264Picture(false, 2 * i), 10 + i);
  }
  EXPECT_TRUE(h264.ordered());
}

TEST(PacketInspector, GarbageIsTakenToShowSomething) {
  for (const AVCodecID codec : {AV_CODEC_ID_H264, AV_CODEC_ID_HEVC,
                                AV_CODEC_ID_MPEG2VIDEO, AV_CODEC_ID_MPEG4}) {
    Inspected inspected(codec);
    std::string garbage;
    for (int i = 0; i < 300; ++i) {
      garbage += static_cast<char>(i * 2654435761u >> 9);
      // Without the flag, the first packet may be the end of a picture that
      // began before the file.
      const uint32_t flags = i == 0 ? BULKHEAD_PACKET_KEYFRAME : 0;
      EXPECT_TRUE(inspected.Inspect(garbage, i, flags));
    }
  }
}

}  // namespace
}  // namespace bulkhead::worker::damage
