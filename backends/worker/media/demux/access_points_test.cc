// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/access_points.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::worker::demux {
namespace {

using Bytes = std::vector<uint8_t>;

// A stream whose packets all have their own time and an entry by their role.
class Stream {
 public:
  explicit Stream(AVCodecID codec, Bytes extradata = {})
      : extradata_(std::move(extradata)), points_(Make(codec)) {}

  bool Read(Bytes bytes, int64_t pts, const char* side_data = nullptr) {
    bytes_ = std::move(bytes);
    const bulkhead_side_data side{side_data, bytes_.data(), bytes_.size()};
    const bulkhead_packet packet = Packet(pts);
    bulkhead_packet with = packet;
    with.side_data = &side;
    with.side_data_count = side_data == nullptr ? 0 : 1;
    damage::PacketRole role;
    role.entry = role.exact = true;
    return points_.Read(with, role);
  }
  bool Read(Bytes bytes) { return Read(std::move(bytes), next_++); }

  bool FlushSufficesFor(Bytes bytes) {
    bytes_ = std::move(bytes);
    return points_.FlushSufficesFor(Packet(next_));
  }

 private:
  AccessPoints Make(AVCodecID codec) {
    AVCodecParameters parameters{};
    parameters.codec_id = codec;
    parameters.extradata = extradata_.data();
    parameters.extradata_size = static_cast<int>(extradata_.size());
    return AccessPoints(parameters);
  }
  bulkhead_packet Packet(int64_t pts) const {
    bulkhead_packet packet{};
    packet.size = sizeof packet;
    packet.data = bytes_.data();
    packet.bytes = bytes_.size();
    packet.pts = pts;
    packet.dts = pts;
    return packet;
  }

  Bytes extradata_;
  Bytes bytes_;
  AccessPoints points_;
  int64_t next_ = 0;
};

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Every codec of this libavcodec has an answer, and a codec whose pictures
// refer to others is never taken for granted.
TEST(CodecAccess, IsKnownOfEachCodec) {
  std::map<CodecAccess, int> codecs;
  const AVCodecDescriptor* codec = nullptr;
  while ((codec = avcodec_descriptor_next(codec)) != nullptr) {
    if (codec->type != AVMEDIA_TYPE_VIDEO) continue;
    const CodecAccess access = AccessOf(codec->id);
    ++codecs[access];
    const bool intra = (codec->props & AV_CODEC_PROP_INTRA_ONLY) != 0;
    if (access == CodecAccess::kEach) {
      EXPECT_TRUE(intra) << codec->name;
    }
    if (access == CodecAccess::kBits) {
      EXPECT_FALSE(IsIntraByItsBits(codec->id, {})) << codec->name;
    }
    if (FlushSuffices(codec->id)) {
      EXPECT_NE(access, CodecAccess::kFirst) << codec->name;
    }
  }
  EXPECT_EQ(codecs[CodecAccess::kRoles], 7);
  EXPECT_EQ(codecs[CodecAccess::kBits], 13);
  EXPECT_GT(codecs[CodecAccess::kEach], 80);
  EXPECT_GT(codecs[CodecAccess::kFirst], 80);
}

TEST(CodecAccess, BitsTellThePicturesThatStandAlone) {
  struct Row {
    AVCodecID codec;
    Bytes alone;
    Bytes refers;
  };
  const Row rows[] = {
      // The temporal delimiter, a frame with its two flags.
      {AV_CODEC_ID_AV1, {0x12, 0, 0x32, 1, 0x10}, {0x12, 0, 0x32, 1, 0x30}},
      {AV_CODEC_ID_AV1, {0x12, 0, 0x32, 1, 0x10}, {0x12, 0, 0x32, 1, 0x00}},
      {AV_CODEC_ID_FLV1, {0, 0, 0x80, 1, 0}, {0, 0, 0x80, 1, 0x20}},
      {AV_CODEC_ID_MSMPEG4V3, {0x3f}, {0x40}},
      {AV_CODEC_ID_WMV2, {0x7f}, {0x80}},
      {AV_CODEC_ID_THEORA, {0x3f}, {0x40}},
      {AV_CODEC_ID_THEORA, {0x3f}, {0x80}},
      {AV_CODEC_ID_FFV1, {0x7f, 0x80}, {0x7f, 0x7f}},
      {AV_CODEC_ID_ZMBV, {1}, {2}},
      {AV_CODEC_ID_SVQ1, {0, 0, 0x80, 0}, {0, 0, 0x80, 1}},
      {AV_CODEC_ID_RV20, Bytes(9, 0) + Bytes{0x40}, Bytes(9, 0) + Bytes{0x80}},
  };
  for (const Row& row : rows) {
    EXPECT_TRUE(IsIntraByItsBits(row.codec, row.alone))
        << avcodec_get_name(row.codec);
    EXPECT_FALSE(IsIntraByItsBits(row.codec, row.refers))
        << avcodec_get_name(row.codec);
  }
}

const Bytes kSequence = {0, 0, 1, 0x67, 66, 0, 10, 0x80};
const Bytes kPicture = {0, 0, 1, 0x68, 0x80, 1};
const Bytes kOtherPicture = {0, 0, 1, 0x68, 0x80, 2};
const Bytes kSecondPicture = {0, 0, 1, 0x68, 0x40, 2};  // number 1
const Bytes kSlice = {0, 0, 1, 0x65, 0x88, 9, 9};

TEST(AccessPoints, ParameterSetsThatChangedAreNeeded) {
  Stream stream(AV_CODEC_ID_H264, kSequence + kPicture);
  EXPECT_TRUE(stream.Read(kSlice));
  EXPECT_TRUE(stream.Read(kSequence + kPicture + kSlice)) << "the same again";
  EXPECT_TRUE(stream.FlushSufficesFor(kSlice));
  EXPECT_TRUE(stream.Read(kOtherPicture + kSlice)) << "it has its own";
  EXPECT_FALSE(stream.Read(kSlice));
  EXPECT_FALSE(stream.FlushSufficesFor(kSlice));
  EXPECT_TRUE(stream.FlushSufficesFor(kPicture + kSlice));
  EXPECT_TRUE(stream.Read(kPicture + kSlice));
  EXPECT_TRUE(stream.Read(kSlice)) << "as in the extradata again";
  EXPECT_TRUE(stream.Read(kSecondPicture + kSlice));
  EXPECT_FALSE(stream.Read(kPicture + kSlice)) << "of another number";
}

TEST(AccessPoints, ParameterSetsStandBehindLengthsToo) {
  // avcC with one set of each kind.
  const Bytes record = {1, 66, 0,    10, 0xff, 0xe1, 0,    5,    0x67, 66,
                        0, 10, 0x80, 1,  0,    3,    0x68, 0x80, 1};
  const Bytes slice = {0, 0, 0, 4, 0x65, 0x88, 9, 9};
  Stream stream(AV_CODEC_ID_H264, record);
  EXPECT_TRUE(stream.Read(Bytes{0, 0, 0, 3, 0x68, 0x80, 1} + slice));
  EXPECT_TRUE(stream.Read(slice));
  EXPECT_TRUE(stream.Read(Bytes{0, 0, 0, 3, 0x68, 0x80, 2} + slice));
  EXPECT_FALSE(stream.Read(slice));
}

TEST(AccessPoints, HevcHasThreeKindsOfParameterSets) {
  const Bytes slice = {0, 0, 1, 0x26, 1, 0xaf};
  for (const int type : {32, 33, 34}) {
    const auto set = [type](uint8_t content) {
      return Bytes{0, 0,    1,       static_cast<uint8_t>(type << 1),
                   1, 0x0c, content, 0x80};
    };
    Stream stream(AV_CODEC_ID_HEVC, set(1));
    EXPECT_TRUE(stream.Read(set(1) + slice)) << type;
    EXPECT_TRUE(stream.Read(slice)) << type;
    EXPECT_TRUE(stream.Read(set(2) + slice)) << type;
    EXPECT_FALSE(stream.Read(slice)) << type;
  }
}

TEST(AccessPoints, ASequenceHeaderOfMpegSetsTheMatricesAnew) {
  const Bytes header = {0, 0, 1, 0xb3, 1, 2, 3};
  const Bytes matrices = {0, 0, 1, 0xb5, 0x38, 5};
  const Bytes picture = {0, 0, 1, 0, 0, 8};
  Stream stream(AV_CODEC_ID_MPEG2VIDEO, header);
  EXPECT_TRUE(stream.Read(header + picture));
  EXPECT_TRUE(stream.Read(picture));
  EXPECT_TRUE(stream.Read(matrices + picture));
  EXPECT_FALSE(stream.Read(picture));
  EXPECT_TRUE(stream.Read(header + picture));
  EXPECT_TRUE(stream.Read(picture)) << "those of the header again";
}

TEST(AccessPoints, TablesOfJpegAreNeededUnlessTheyAreRepeated) {
  const Bytes begin = {0xff, 0xd8};
  const auto quantisation = [](uint8_t content) {
    return Bytes{0xff, 0xdb, 0, 67, 0} + Bytes(64, content);
  };
  const Bytes scan = {0xff, 0xda, 0, 3, 0, 1, 2, 0xff, 0, 0xff, 0xd9};
  Stream stream(AV_CODEC_ID_MJPEG);
  EXPECT_TRUE(stream.Read(begin + quantisation(1) + scan));
  EXPECT_TRUE(stream.Read(begin + quantisation(2) + scan));
  EXPECT_FALSE(stream.Read(begin + scan));
  EXPECT_FALSE(stream.Read(begin + scan + quantisation(2)))
      << "behind the scan that needs it";
}

// libavcodec goes by the faults of each encoder that a stream names, once it
// has named it.
TEST(AccessPoints, WhatNamesAnEncoderIsNeeded) {
  const Bytes lavc = {0, 0, 1, 0xb2, 'L', 'a', 'v', 'c'};
  const Bytes xvid = {0, 0, 1, 0xb2, 'X', 'v', 'i', 'D'};
  const Bytes vop = {0, 0, 1, 0xb6, 0x10};
  Stream mpeg4(AV_CODEC_ID_MPEG4, lavc);
  EXPECT_TRUE(mpeg4.Read(lavc + vop));
  EXPECT_TRUE(mpeg4.Read(xvid + vop));
  EXPECT_FALSE(mpeg4.Read(lavc + vop)) << "XviD was named too";

  const Bytes tmpg = {0, 0, 1, 0xb2, 0, 'T', 'M', 'P', 'G', 'E', 'X', 'S', 0};
  const Bytes captions = {0, 0, 1, 0xb2, 'G', 'A', '9', '4', 1};
  const Bytes picture = {0, 0, 1, 0, 0, 8};
  Stream mpeg1(AV_CODEC_ID_MPEG1VIDEO);
  EXPECT_TRUE(mpeg1.Read(captions + picture));
  EXPECT_TRUE(mpeg1.Read(picture));
  EXPECT_TRUE(mpeg1.Read(tmpg + picture));
  EXPECT_FALSE(mpeg1.Read(picture));

  const Bytes image = {0xff, 0xd8};
  const Bytes comment = {0xff, 0xfe, 0, 6, 'I', 'n', 't', 'e'};
  const Bytes scan = {0xff, 0xda, 0, 3, 0, 1, 2, 0xff, 0xd9};
  Stream jpeg(AV_CODEC_ID_MJPEG);
  EXPECT_TRUE(jpeg.Read(image + scan));
  EXPECT_TRUE(jpeg.Read(image + comment + scan));
  EXPECT_FALSE(jpeg.Read(image + scan));
}

TEST(AccessPoints, OldVersionsOfX264AndFilmGrainAreNeeded) {
  const auto message = [](uint8_t type, const std::string& text) {
    const Bytes head = {0, 0, 1, 6, type, static_cast<uint8_t>(text.size())};
    return head + Bytes(text.begin(), text.end()) + Bytes{0x80};
  };
  const std::string identifier(16, 'i');
  const auto version = [&](const char* core) {
    return message(5, identifier + "x264 - core " + core);
  };
  Stream recent(AV_CODEC_ID_H264, kSequence + kPicture);
  EXPECT_TRUE(recent.Read(version("164 r3095") + kSlice));
  EXPECT_TRUE(recent.Read(version("67") + kSlice));
  EXPECT_TRUE(recent.Read(kSlice));
  EXPECT_TRUE(recent.Read(version("33") + kSlice));
  EXPECT_FALSE(recent.Read(kSlice));

  const Bytes of_444 = {0, 0, 1, 0x67, 244, 0, 10, 0x80};
  Stream lossless(AV_CODEC_ID_H264, of_444 + kPicture);
  EXPECT_TRUE(lossless.Read(version("150") + kSlice));
  EXPECT_FALSE(lossless.Read(kSlice));

  Stream grain(AV_CODEC_ID_H264, kSequence + kPicture);
  EXPECT_FALSE(grain.Read(message(19, "grain") + kSlice));
  EXPECT_FALSE(grain.Read(kSlice));
  EXPECT_FALSE(grain.FlushSufficesFor(kSlice));
}

TEST(AccessPoints, APaletteIsNeeded) {
  Stream stream(AV_CODEC_ID_RAWVIDEO);
  EXPECT_TRUE(stream.Read({1, 2, 3}, 0));
  EXPECT_TRUE(stream.Read({1, 2, 3}, 1, "Palette"));
  EXPECT_FALSE(stream.Read({1, 2, 3}, 2));
  EXPECT_TRUE(stream.Read({1, 2, 3}, 3, "Palette"));
}

TEST(AccessPoints, NoEarlierPictureIsShownBehindOne) {
  Stream stream(AV_CODEC_ID_RAWVIDEO);
  EXPECT_TRUE(stream.Read({1}, 5));
  EXPECT_FALSE(stream.Read({1}, 4));
  EXPECT_FALSE(stream.Read({1}, BULKHEAD_NO_TIMESTAMP));
  EXPECT_TRUE(stream.Read({1}, 6));
}

TEST(AccessPoints, AMarkTellsPacketsApart) {
  const Bytes one = {1, 2, 3};
  const Bytes other = {1, 2, 4};
  bulkhead_packet packet{};
  packet.data = one.data();
  packet.bytes = one.size();
  packet.pts = 7;
  packet.position = 8;
  const PacketMark mark = MarkOf(packet);
  EXPECT_EQ(mark, MarkOf(packet));
  EXPECT_NE(mark.check, 0u);
  packet.data = other.data();
  EXPECT_NE(mark, MarkOf(packet));
}

}  // namespace
}  // namespace bulkhead::worker::demux
