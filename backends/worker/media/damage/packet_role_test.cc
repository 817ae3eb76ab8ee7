// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/packet_role.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker::damage {
namespace {

class Roles {
 public:
  explicit Roles(AVCodecID codec, std::string extradata = "")
      : extradata_(std::move(extradata)), reader_(Make(codec)) {}

  PacketRole Read(const std::vector<int>& bytes, uint32_t flags = 0,
                  int type = AV_PICTURE_TYPE_NONE) {
    std::string data;
    for (const int byte : bytes) data += static_cast<char>(byte);
    bulkhead_packet packet{};
    packet.size = sizeof(packet);
    packet.flags = flags;
    packet.data = reinterpret_cast<const uint8_t*>(data.data());
    packet.bytes = data.size();
    return reader_.Read(packet, type);
  }

 private:
  RoleReader Make(AVCodecID codec) {
    AVCodecParameters parameters{};
    parameters.codec_id = codec;
    parameters.extradata = reinterpret_cast<uint8_t*>(extradata_.data());
    parameters.extradata_size = static_cast<int>(extradata_.size());
    return RoleReader(parameters);
  }

  std::string extradata_;
  RoleReader reader_;
};

constexpr uint32_t kKey = BULKHEAD_PACKET_KEYFRAME;

TEST(PacketRole, H264TellsItByTheHeadersOfItsUnits) {
  Roles roles(AV_CODEC_ID_H264);
  const PacketRole idr = roles.Read({0, 0, 1, 0x65, 0x88, 9, 9}, kKey);
  EXPECT_TRUE(idr.entry && idr.closed && idr.referred);
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x01, 0x88}).referred);
  EXPECT_TRUE(roles.Read({0, 0, 1, 0x41, 0x88}).referred);
  EXPECT_TRUE(roles.Read({0, 0, 0, 0, 0, 0}).referred) << "is no H.264";
  EXPECT_FALSE(roles.Read({0, 0, 0, 0, 0, 0}, kKey).entry);
  // A recovery point is whole at once, or after 6 pictures (00111).
  const PacketRole open =
      roles.Read({0, 0, 1, 6, 6, 1, 0x84, 0x80, 0, 0, 1, 0x61, 0x88}, kKey);
  EXPECT_TRUE(open.entry && !open.closed);
  const PacketRole refresh =
      roles.Read({0, 0, 1, 6, 6, 1, 0x3c, 0x80, 0, 0, 1, 0x61, 0x88}, kKey);
  EXPECT_FALSE(refresh.entry);
  EXPECT_EQ(refresh.refresh, 6u);
}

TEST(PacketRole, GarbageInH264IsNoEntry) {
  Roles roles(AV_CODEC_ID_H264, std::string("\x01\x4d\x00\x0a\xff\xe0\x00", 7));
  const PacketRole forbidden = roles.Read({0, 0, 0, 4, 0x85, 0x88, 9, 9});
  EXPECT_FALSE(forbidden.entry || forbidden.closed);
  EXPECT_TRUE(forbidden.referred) << "nothing tells that it is not";
  const PacketRole behind =
      roles.Read({0, 0, 0, 2, 0x41, 0x88, 0, 0, 0, 4, 0x65, 0x88, 9, 9});
  EXPECT_FALSE(behind.entry || behind.closed);
  const PacketRole fields =
      roles.Read({0, 0, 0, 4, 0x65, 0x88, 9, 9, 0, 0, 0, 2, 0x41, 0x88}, kKey);
  EXPECT_TRUE(fields.entry && fields.closed);
  const PacketRole delimiter =
      roles.Read({0, 0, 0, 2, 0x65, 0x88, 0, 0, 0, 2, 0x41, 0x98}, kKey);
  EXPECT_FALSE(delimiter.entry || delimiter.closed);
  EXPECT_FALSE(
      roles.Read({0, 0, 0, 2, 0x05, 0xf0, 0, 0, 0, 2, 0x01, 0x9c}).b_picture);
}

TEST(PacketRole, AnIdrPictureOfH264IsIntraCoded) {
  Roles roles(AV_CODEC_ID_H264);
  // What begins with the first macroblock begins with 1; then 00110 (5, a P
  // picture), 00111 (6, B) or 0001000 (7, I).
  const PacketRole p = roles.Read({0, 0, 1, 0x65, 0x98, 9, 9}, kKey);
  EXPECT_FALSE(p.entry || p.closed);
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x65, 0x8d, 9, 9}, kKey).entry)
      << "0001101 (12) is no type";
  const PacketRole keyframe = roles.Read({0, 0, 1, 0x61, 0x88}, kKey);
  EXPECT_TRUE(keyframe.entry && !keyframe.closed);
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x61, 0x98}, kKey).entry);
  EXPECT_FALSE(
      roles.Read({0, 0, 1, 0x61, 0x88, 0, 0, 1, 0x61, 0x58}, kKey).entry)
      << "another slice is none";
  EXPECT_TRUE(
      roles.Read({0, 0, 1, 0x61, 0x88, 0, 0, 1, 0x61, 0x98}, kKey).entry)
      << "the second field is none";
}

TEST(PacketRole, ABPictureOfH264HasOnlySlicesOfThatType) {
  Roles roles(AV_CODEC_ID_H264);
  EXPECT_TRUE(roles.Read({0, 0, 1, 0x01, 0x9c}).b_picture);
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x01, 0x98}).b_picture);
  EXPECT_FALSE(
      roles.Read({0, 0, 1, 0x01, 0x9c, 0, 0, 1, 0x01, 0x98}).b_picture);
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x02, 0x9c}).b_picture) << "a partition";
  EXPECT_FALSE(roles.Read({0, 0, 1, 9, 0xf0}).b_picture) << "no slice";
}

TEST(PacketRole, UnitsOfOtherLayersOfHevcTellNothing) {
  Roles roles(AV_CODEC_ID_HEVC);
  const PacketRole role =
      roles.Read({0, 0, 1, 2, 1, 0x80, 0, 0, 1, 0x26, 9, 0x80});
  EXPECT_FALSE(role.entry);
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x27, 1, 0x80}).entry) << "layer 32";
}

TEST(PacketRole, APacketWithoutASliceOfTheStreamHasNoPicture) {
  Roles h264(AV_CODEC_ID_H264);
  EXPECT_TRUE(h264.Read({0, 0, 1, 9, 0xf0, 0, 0, 1, 0x41, 0x98}).has_picture);
  EXPECT_FALSE(h264.Read({0, 0, 1, 10, 0}).has_picture) << "end of sequence";
  EXPECT_FALSE(h264.Read({0, 0, 1, 0x74, 9}).has_picture) << "another view";
  EXPECT_TRUE(h264.Read({0, 0, 1, 10, 0, 0, 0, 1, 0xc1, 9}).has_picture)
      << "a unit that no decoder reads";
  EXPECT_TRUE(h264.Read({0, 0, 0, 0, 0, 0}).has_picture) << "zeroes";
  Roles hevc(AV_CODEC_ID_HEVC);
  EXPECT_TRUE(hevc.Read({0, 0, 1, 2, 1, 0x80}).has_picture);
  EXPECT_FALSE(hevc.Read({0, 0, 1, 2, 9, 0x80}).has_picture) << "layer 1";
  EXPECT_FALSE(hevc.Read({0, 0, 1, 0x48, 1}).has_picture) << "its end";
  EXPECT_TRUE(hevc.Read({0, 0, 1, 2, 1}).has_picture) << "a slice that is cut";
}

TEST(PacketRole, AKeyframeOfMpegHasHeadersThatCanBeRead) {
  Roles roles(AV_CODEC_ID_MPEG4);
  EXPECT_FALSE(roles.Read(std::vector<int>(16), kKey).entry);
  EXPECT_TRUE(roles.Read({0}, kKey, AV_PICTURE_TYPE_I).entry);
}

TEST(PacketRole, NoMoreUnitsAreReadThanASoundPacketHas) {
  Roles roles(AV_CODEC_ID_H264);
  const auto behind = [&](size_t delimiters) {
    std::vector<int> bytes;
    for (size_t i = 0; i < delimiters; ++i) {
      bytes.insert(bytes.end(), {0, 0, 1, 9});
    }
    bytes.insert(bytes.end(), {0, 0, 1, 0x65, 0x88, 9, 9});
    return roles.Read(bytes).entry;
  };
  EXPECT_TRUE(behind(4'000));
  EXPECT_FALSE(behind(4'096));
}

TEST(PacketRole, UnitsMayHaveALengthInFrontInsteadOfAStartCode) {
  Roles roles(AV_CODEC_ID_H264, std::string("\x01\x4d\x00\x0a\xff\xe0\x00", 7));
  EXPECT_TRUE(roles.Read({0, 0, 0, 4, 0x65, 0x88, 9, 9}, kKey).closed);
  EXPECT_FALSE(roles.Read({0, 0, 0, 2, 0x01, 0x88}).referred);
  EXPECT_TRUE(roles.Read({0xff, 0xff, 0xff, 0xff, 0x01}).entry == false);
}

TEST(PacketRole, HevcRefersToAllButTheHighestLayer) {
  Roles roles(AV_CODEC_ID_HEVC);
  EXPECT_TRUE(roles.Read({0, 0, 1, 0, 1, 0}).referred) << "no parameter set";
  // A parameter set with one layer, then TRAIL_N and TRAIL_R.
  roles.Read({0, 0, 1, 0x42, 1, 0x01, 0, 0});
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x00, 1, 0x80}).referred);
  EXPECT_TRUE(roles.Read({0, 0, 1, 0x02, 1, 0x80}).referred);
  // The same from the configuration: one layer, lengths of four bytes.
  std::string configuration(23, '\0');
  configuration[0] = 1;
  configuration[21] = 1 << 3 | 3;
  EXPECT_FALSE(Roles(AV_CODEC_ID_HEVC, configuration)
                   .Read({0, 0, 0, 3, 0x00, 1, 0x80})
                   .referred);
  const PacketRole cra = roles.Read({0, 0, 1, 0x2a, 1, 0x80}, kKey);
  EXPECT_TRUE(cra.entry && !cra.closed);
  EXPECT_TRUE(roles.Read({0, 0, 1, 0x0c, 1, 0x80}).alone) << "RADL";
  EXPECT_TRUE(roles.Read({0, 0, 1, 0x10, 1, 0x80}).skipped_leading) << "RASL";
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x0c, 1, 0x80}).skipped_leading);
}

TEST(PacketRole, ASequenceOfHevcEndsWhereAUnitSaysSo) {
  Roles roles(AV_CODEC_ID_HEVC);
  EXPECT_TRUE(roles.Read({0, 0, 1, 0x26, 1, 0x80}).begins_sequence) << "IDR";
  EXPECT_FALSE(roles.Read({0, 0, 1, 0x2a, 1, 0x80}).begins_sequence) << "CRA";
  const PacketRole last = roles.Read({0, 0, 1, 2, 1, 0x80, 0, 0, 1, 0x48, 1});
  EXPECT_TRUE(last.ends_sequence);
  EXPECT_FALSE(last.begins_sequence);
  const PacketRole first =
      roles.Read({0, 0, 1, 0x48, 1, 0, 0, 1, 0x2a, 1, 0x80});
  EXPECT_TRUE(first.begins_sequence);
  EXPECT_FALSE(first.ends_sequence);
}

TEST(PacketRole, MpegTellsItByTheTypesOfPictures) {
  Roles roles(AV_CODEC_ID_MPEG2VIDEO);
  EXPECT_TRUE(roles.Read({0}, 0, AV_PICTURE_TYPE_I).entry);
  EXPECT_FALSE(roles.Read({0}, kKey, AV_PICTURE_TYPE_P).entry);
  EXPECT_FALSE(roles.Read({0}, 0, AV_PICTURE_TYPE_B).referred);
}

TEST(PacketRole, AGroupOfMpegIsClosedIfTheHeaderBeforeThePictureSaysSo) {
  Roles roles(AV_CODEC_ID_MPEG2VIDEO);
  const auto closed = [&](const std::vector<int>& bytes) {
    return roles.Read(bytes, 0, AV_PICTURE_TYPE_I).closed;
  };
  EXPECT_TRUE(closed({0, 0, 1, 0xb8, 9, 9, 9, 0x40, 0, 0, 1, 0, 9}));
  EXPECT_FALSE(closed({0, 0, 1, 0xb8, 9, 9, 9, 0x80, 0, 0, 1, 0, 9}));
  EXPECT_FALSE(closed({0, 0, 1, 0, 9, 0, 0, 1, 0xb8, 9, 9, 9, 0x40}));
}

TEST(PacketRole, AKeyframeOfVpxIsOneByItsHeaderToo) {
  Roles vp8(AV_CODEC_ID_VP8);
  EXPECT_TRUE(vp8.Read({0}, kKey).entry);
  EXPECT_FALSE(vp8.Read({1}, kKey).entry);
  EXPECT_FALSE(vp8.Read({0}).entry) << "the container does not say so";
  Roles vp9(AV_CODEC_ID_VP9);
  EXPECT_TRUE(vp9.Read({0x82, 0x49, 0x83, 0x42, 0}, kKey).entry);
  EXPECT_FALSE(vp9.Read({0x86, 0x49, 0x83, 0x42, 0}, kKey).entry);
}

TEST(PacketRole, OtherwiseTheContainerTellsKeyframes) {
  Roles av1(AV_CODEC_ID_AV1);
  EXPECT_TRUE(av1.Read({0}, kKey).entry);
  EXPECT_FALSE(av1.Read({0}).entry);
  EXPECT_TRUE(av1.Read({0}).referred);
  EXPECT_TRUE(Roles(AV_CODEC_ID_MJPEG).Read({0}).entry) << "always intra";
}

}  // namespace
}  // namespace bulkhead::worker::damage
