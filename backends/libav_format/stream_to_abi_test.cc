// SPDX-License-Identifier: Apache-2.0
#include "backends/libav_format/stream_to_abi.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

namespace bulkhead::libav_format {
namespace {

class StreamToAbi : public testing::Test {
 protected:
  void SetUp() override {
    container_ = avformat_alloc_context();
    stream_ = avformat_new_stream(container_, nullptr);
    codec_ = stream_->codecpar;
  }
  void TearDown() override { avformat_free_context(container_); }

  AVFormatContext* container_ = nullptr;
  AVStream* stream_ = nullptr;
  AVCodecParameters* codec_ = nullptr;
  std::vector<bulkhead_side_data> side_data_;
};

// [color-1], [color-2], [color-3]: the header states these numbers.
TEST(Numberings, AreThoseOfTheHeader) {
  EXPECT_EQ(AV_FIELD_UNKNOWN, 0);
  EXPECT_EQ(AV_FIELD_PROGRESSIVE, 1);
  EXPECT_EQ(AV_FIELD_TT, 2);
  EXPECT_EQ(AV_FIELD_BB, 3);
  EXPECT_EQ(AV_FIELD_TB, 4);
  EXPECT_EQ(AV_FIELD_BT, 5);
  EXPECT_EQ(AVCHROMA_LOC_UNSPECIFIED, 0);
  EXPECT_EQ(AVCHROMA_LOC_LEFT, 1);
  EXPECT_EQ(AVCHROMA_LOC_CENTER, 2);
  EXPECT_EQ(AVCHROMA_LOC_TOPLEFT, 3);
  EXPECT_EQ(AVCHROMA_LOC_TOP, 4);
  EXPECT_EQ(AVCHROMA_LOC_BOTTOMLEFT, 5);
  EXPECT_EQ(AVCHROMA_LOC_BOTTOM, 6);
  EXPECT_EQ(AVCOL_RANGE_UNSPECIFIED, 0);
  EXPECT_EQ(AVCOL_RANGE_MPEG, 1);
  EXPECT_EQ(AVCOL_RANGE_JPEG, 2);
  EXPECT_EQ(AVCOL_PRI_UNSPECIFIED, 2);
  EXPECT_EQ(AVCOL_TRC_UNSPECIFIED, 2);
  EXPECT_EQ(AVCOL_SPC_UNSPECIFIED, 2);
  EXPECT_EQ(FF_PROFILE_UNKNOWN, -99);
  EXPECT_EQ(FF_LEVEL_UNKNOWN, -99);
}

// Every field has a value of its own, so that none can stand for another.
TEST_F(StreamToAbi, EachParameterOfVideoArrives) {
  codec_->codec_type = AVMEDIA_TYPE_VIDEO;
  codec_->codec_id = AV_CODEC_ID_H264;
  codec_->codec_tag = 11;
  codec_->width = 12;
  codec_->height = 13;
  codec_->format = AV_PIX_FMT_YUV420P;
  codec_->profile = 14;
  codec_->level = 15;
  codec_->bits_per_coded_sample = 16;
  codec_->bits_per_raw_sample = 17;
  codec_->bit_rate = 18;
  codec_->field_order = AV_FIELD_TT;
  codec_->video_delay = 3;
  codec_->chroma_location = AVCHROMA_LOC_TOP;
  codec_->color_range = AVCOL_RANGE_JPEG;
  codec_->color_primaries = AVCOL_PRI_BT2020;
  codec_->color_trc = AVCOL_TRC_SMPTE2084;
  codec_->color_space = AVCOL_SPC_BT2020_NCL;
  codec_->sample_aspect_ratio = {19, 20};
  stream_->time_base = {1, 21};
  stream_->avg_frame_rate = {22, 23};
  const auto abi = ParametersOf(*stream_, &side_data_);
  EXPECT_EQ(abi.size, sizeof(abi));
  EXPECT_EQ(abi.stream_kind, uint32_t{BULKHEAD_STREAM_VIDEO});
  EXPECT_STREQ(abi.codec, "h264");
  EXPECT_EQ(abi.codec_tag, 11u);
  EXPECT_EQ(abi.width, 12);
  EXPECT_EQ(abi.height, 13);
  EXPECT_STREQ(abi.pixel_format, "yuv420p");
  EXPECT_EQ(abi.profile, 14);
  EXPECT_EQ(abi.level, 15);
  EXPECT_EQ(abi.bits_per_coded_sample, 16);
  EXPECT_EQ(abi.bits_per_raw_sample, 17);
  EXPECT_EQ(abi.bit_rate, 18);
  EXPECT_EQ(abi.field_order, 2);
  EXPECT_EQ(abi.video_delay, 3);
  EXPECT_EQ(abi.chroma_location, 4);
  EXPECT_EQ(abi.color_range, 2);
  EXPECT_EQ(abi.color_primaries, 9);
  EXPECT_EQ(abi.color_transfer, 16);
  EXPECT_EQ(abi.color_space, 9);
  EXPECT_EQ(abi.sample_aspect_ratio.numerator, 19);
  EXPECT_EQ(abi.sample_aspect_ratio.denominator, 20);
  EXPECT_EQ(abi.time_base.denominator, 21);
  EXPECT_EQ(abi.frame_rate.numerator, 22);
  EXPECT_EQ(abi.frame_rate.denominator, 23);
}

TEST_F(StreamToAbi, EachParameterOfAudioArrives) {
  codec_->codec_type = AVMEDIA_TYPE_AUDIO;
  codec_->codec_id = AV_CODEC_ID_AAC;
  codec_->format = AV_SAMPLE_FMT_FLTP;
  codec_->sample_rate = 31;
  codec_->ch_layout = AV_CHANNEL_LAYOUT_STEREO;
  codec_->block_align = 32;
  codec_->frame_size = 33;
  codec_->initial_padding = 34;
  codec_->trailing_padding = 35;
  codec_->seek_preroll = 36;
  const auto abi = ParametersOf(*stream_, &side_data_);
  EXPECT_EQ(abi.stream_kind, uint32_t{BULKHEAD_STREAM_AUDIO});
  EXPECT_EQ(abi.pixel_format, nullptr);
  EXPECT_STREQ(abi.sample_format, "fltp");
  EXPECT_EQ(abi.sample_rate, 31);
  EXPECT_EQ(abi.channels, 2);
  EXPECT_EQ(abi.channel_mask, 3u);
  EXPECT_EQ(abi.block_align, 32);
  EXPECT_EQ(abi.frame_size, 33);
  EXPECT_EQ(abi.initial_padding, 34);
  EXPECT_EQ(abi.trailing_padding, 35);
  EXPECT_EQ(abi.seek_preroll, 36);
}

TEST_F(StreamToAbi, APacketArrivesWithItsSideData) {
  std::array<uint8_t, 8> bytes{};
  AVPacket* const packet = av_packet_alloc();
  packet->data = bytes.data();
  packet->size = 5;
  packet->pts = 41;
  packet->dts = 42;
  packet->duration = 43;
  packet->pos = 44;
  packet->flags = AV_PKT_FLAG_KEY | AV_PKT_FLAG_DISCARD;
  const uint8_t* const palette =
      av_packet_new_side_data(packet, AV_PKT_DATA_PALETTE, 7);
  const auto abi = PacketOf(*packet, &side_data_);
  EXPECT_EQ(abi.size, sizeof(abi));
  EXPECT_EQ(abi.flags,
            uint32_t{BULKHEAD_PACKET_KEYFRAME | BULKHEAD_PACKET_DISCARD});
  EXPECT_EQ(abi.data, bytes.data());
  EXPECT_EQ(abi.bytes, 5u);
  EXPECT_EQ(abi.pts, 41);
  EXPECT_EQ(abi.dts, 42);
  EXPECT_EQ(abi.duration, 43);
  EXPECT_EQ(abi.position, 44);
  ASSERT_EQ(abi.side_data_count, 1u);
  EXPECT_STREQ(abi.side_data[0].kind, "Palette");
  EXPECT_EQ(abi.side_data[0].data, palette);
  EXPECT_EQ(abi.side_data[0].bytes, 7u);

  packet->flags = AV_PKT_FLAG_CORRUPT;
  EXPECT_EQ(PacketOf(*packet, &side_data_).flags,
            uint32_t{BULKHEAD_PACKET_CORRUPT});
  EXPECT_EQ(side_data_.size(), 1u) << "the list of the packet before stayed";
  AVPacket* rest = packet;
  av_packet_free(&rest);
}

}  // namespace
}  // namespace bulkhead::libav_format
