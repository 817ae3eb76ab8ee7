// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/damage/shown_packets.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::worker::damage {
namespace {

class Shown {
 public:
  explicit Shown(AVCodecID codec, std::string extradata = "")
      : extradata_(std::move(extradata)), shown_(Make(codec)) {}

  bool Read(const std::string& bytes) {
    bulkhead_packet packet{};
    packet.size = sizeof(packet);
    packet.data = reinterpret_cast<const uint8_t*>(bytes.data());
    packet.bytes = bytes.size();
    return shown_.Read(packet);
  }
  bool drops_held() const { return shown_.drops_held(); }
  void Restart() { shown_.Restart(); }

 private:
  ShownPackets Make(AVCodecID codec) {
    AVCodecParameters parameters{};
    parameters.codec_id = codec;
    parameters.extradata = reinterpret_cast<uint8_t*>(extradata_.data());
    parameters.extradata_size = static_cast<int>(extradata_.size());
    return ShownPackets(parameters);
  }

  std::string extradata_;
  ShownPackets shown_;
};

std::string Bytes(const std::vector<int>& values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

TEST(ShownPackets, HiddenFramesOfVp8AndVp9ShowNothing) {
  Shown vp8(AV_CODEC_ID_VP8);
  EXPECT_TRUE(vp8.Read(Bytes({0x10, 0, 0})));
  EXPECT_FALSE(vp8.Read(Bytes({0x00, 0, 0})));
  EXPECT_TRUE(vp8.Read("")) << "nothing is known of it";
  Shown vp9(AV_CODEC_ID_VP9);
  EXPECT_TRUE(vp9.Read(Bytes({0x82, 1, 1})));
  EXPECT_FALSE(vp9.Read(Bytes({0x80, 1, 1})));
  EXPECT_TRUE(vp9.Read(Bytes({0x88, 1, 1}))) << "shows an existing frame";
  EXPECT_TRUE(vp9.Read(Bytes({0xb1, 1, 1}))) << "profile 3";
  EXPECT_FALSE(vp9.Read(Bytes({0xb0, 1, 1}))) << "profile 3";
  EXPECT_TRUE(vp9.Read(Bytes({0x80, 1, 0xc0}))) << "a superframe";
  EXPECT_TRUE(vp9.Read(Bytes({0x00, 1, 1}))) << "is no VP9";
  EXPECT_TRUE(vp9.Read(""));
}

TEST(ShownPackets, HiddenFramesOfAv1ShowNothing) {
  const std::string delimiter = Bytes({0x12, 0});
  const std::string hidden = Bytes({0x32, 2, 0x20, 0});
  const std::string frame = Bytes({0x32, 2, 0x30, 0});
  const std::string existing = Bytes({0x1a, 1, 0x80});
  Shown av1(AV_CODEC_ID_AV1);
  EXPECT_TRUE(av1.Read(delimiter + frame));
  EXPECT_FALSE(av1.Read(delimiter + hidden));
  EXPECT_TRUE(av1.Read(delimiter + hidden + frame));
  EXPECT_TRUE(av1.Read(delimiter + existing));
  EXPECT_FALSE(av1.Read(delimiter)) << "no frame";
  EXPECT_TRUE(av1.Read(Bytes({0x32, 9, 0x20}))) << "cut";
  EXPECT_TRUE(av1.Read(Bytes({0x80}))) << "is no AV1";
  EXPECT_TRUE(av1.Read(Bytes({0x30, 0x30}))) << "without a size";
  // A still picture, whose sequence header says that frames have short ones.
  Shown still(AV_CODEC_ID_AV1, Bytes({0x81, 0, 0, 0, 0x0a, 2, 0x18, 0}));
  EXPECT_TRUE(still.Read(hidden));
}

// The header of a layer whose times have 5 bits (25 a second).
const std::string kLayer = Bytes({0, 0, 1, 0x20, 0, 0x84, 0x00, 0x06, 0x40});
// VOPs: the type in 2 bits, a second that has not ended, the time, coded or
// not.
const std::string kCoded = Bytes({0, 0, 1, 0xb6, 0x50, 0x60, 9, 9});
const std::string kCodedB = Bytes({0, 0, 1, 0xb6, 0x90, 0x60, 9, 9});
const std::string kNotCoded = Bytes({0, 0, 1, 0xb6, 0x50, 0x40, 9});

TEST(ShownPackets, AVopThatIsNotCodedShowsNothing) {
  Shown mpeg4(AV_CODEC_ID_MPEG4, kLayer);
  EXPECT_TRUE(mpeg4.Read(kCoded));
  EXPECT_FALSE(mpeg4.Read(kNotCoded));
  EXPECT_TRUE(mpeg4.Read(Bytes({0, 0, 1, 0xb6, 0x50, 0x20, 9})))
      << "another header belongs to it";
  EXPECT_FALSE(mpeg4.Read(Bytes({0x7f}))) << "the encoder is late";
  EXPECT_FALSE(mpeg4.Read(kLayer)) << "only headers";
  EXPECT_TRUE(mpeg4.Read("garbage"));
  EXPECT_TRUE(Shown(AV_CODEC_ID_MPEG4).Read(kNotCoded))
      << "nothing tells how long the times are";
}

TEST(ShownPackets, AVopThatIsNotCodedStandsForAPackedOne) {
  const std::string packs = Bytes({0, 0, 1, 0xb2}) + "DivX503b1393p";
  Shown mpeg4(AV_CODEC_ID_MPEG4, kLayer + packs);
  EXPECT_TRUE(mpeg4.Read(kCoded + kCodedB));
  EXPECT_TRUE(mpeg4.Read(kNotCoded));
  EXPECT_FALSE(mpeg4.Read(kNotCoded)) << "there was only one";
  // Two B-pictures in a row: each comes a packet late.
  EXPECT_TRUE(mpeg4.Read(kCoded + kCodedB));
  EXPECT_TRUE(mpeg4.Read(kCodedB + Bytes({1, 2, 3})));
  EXPECT_TRUE(mpeg4.Read(kNotCoded));
  EXPECT_FALSE(mpeg4.Read(kNotCoded));
  EXPECT_TRUE(mpeg4.Read(kCoded + kCodedB));
  mpeg4.Restart();
  EXPECT_FALSE(mpeg4.Read(kNotCoded)) << "after a seek";
  Shown other(AV_CODEC_ID_MPEG4, kLayer);
  EXPECT_TRUE(other.Read(kCoded + kCodedB));
  EXPECT_FALSE(other.Read(kNotCoded)) << "this encoder packs nothing";
}

// A sequence header, 352x288 with an aspect ratio, its extension and a picture.
std::string Sequence(int aspect, bool low_delay) {
  return Bytes({0, 0, 1, 0xb3, 0x16, 1, 0x20, aspect << 4 | 3, 9, 9, 9, 9}) +
         Bytes({0, 0, 1, 0xb5, 0x14, 0x8a, 0, 1, 0, low_delay ? 0x80 : 0}) +
         Bytes({0, 0, 1, 0, 0, 9});
}

TEST(ShownPackets, ASequenceHeaderThatChangesDropsTheHeldPicture) {
  Shown mpeg2(AV_CODEC_ID_MPEG2VIDEO);
  EXPECT_TRUE(mpeg2.Read(Sequence(2, false)));
  EXPECT_FALSE(mpeg2.drops_held()) << "the first one";
  EXPECT_TRUE(mpeg2.Read(Bytes({0, 0, 1, 0, 0, 9})));
  EXPECT_FALSE(mpeg2.drops_held());
  EXPECT_TRUE(mpeg2.Read(Sequence(2, false)));
  EXPECT_FALSE(mpeg2.drops_held()) << "the same again";
  EXPECT_TRUE(mpeg2.Read(Sequence(3, false)));
  EXPECT_TRUE(mpeg2.drops_held());
  EXPECT_TRUE(mpeg2.Read(Sequence(2, true)));
  EXPECT_TRUE(mpeg2.drops_held());
  EXPECT_TRUE(mpeg2.Read(Sequence(3, false)));
  EXPECT_FALSE(mpeg2.drops_held()) << "the one before was shown at once";
  mpeg2.Restart();
  EXPECT_TRUE(mpeg2.Read(Sequence(2, false)));
  EXPECT_FALSE(mpeg2.drops_held()) << "after a seek";
  EXPECT_TRUE(mpeg2.Read(std::string(20, '\0'))) << "was a picture once";
  EXPECT_TRUE(mpeg2.Read(Bytes({0, 0, 0, 9, 0, 0, 1, 1, 9}))) << "and this";
}

TEST(ShownPackets, TheEndOfASequenceOfMpegShowsNothing) {
  Shown mpeg2(AV_CODEC_ID_MPEG2VIDEO);
  EXPECT_TRUE(mpeg2.Read(Sequence(2, false)));
  EXPECT_FALSE(mpeg2.Read(Bytes({0, 0, 1, 0xb7})));
  EXPECT_TRUE(mpeg2.Read(Sequence(3, false)));
  EXPECT_FALSE(mpeg2.drops_held()) << "the end gave the picture";
}

TEST(ShownPackets, TheEndOfASequenceOfDiracShowsNothing) {
  Shown dirac(AV_CODEC_ID_DIRAC);
  const std::string end = "BBCD" + Bytes({0x10, 0, 0, 0, 0, 0, 0, 0, 13});
  const std::string header = "BBCD" + Bytes({0, 0, 0, 0, 13, 0, 0, 0, 0});
  const std::string picture = "BBCD" + Bytes({8, 0, 0, 0, 0, 0, 0, 0, 13});
  EXPECT_FALSE(dirac.Read(end));
  EXPECT_FALSE(dirac.Read(header + end));
  EXPECT_TRUE(dirac.Read(header + picture));
  EXPECT_TRUE(dirac.Read("garbage that is no Dirac"));
}

// Where two files of Ogg were joined, they lie between the pictures.
TEST(ShownPackets, HeadersOfTheoraShowNothing) {
  Shown theora(AV_CODEC_ID_THEORA);
  EXPECT_FALSE(theora.Read(Bytes({0x81}) + "theora"));
  EXPECT_TRUE(theora.Read(Bytes({0x40, 1, 2, 3})));
  EXPECT_TRUE(theora.Read(""));
}

TEST(ShownPackets, PacketsOfOtherCodecsShowOneEach) {
  EXPECT_TRUE(Shown(AV_CODEC_ID_MJPEG).Read("x"));
}

}  // namespace
}  // namespace bulkhead::worker::damage
