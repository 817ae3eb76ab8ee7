// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/held_pictures.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

namespace bulkhead::worker::decode {
namespace {

using Times = std::vector<int64_t>;

// A backend whose pictures have the fields that the test sets.
struct Vendor {
  bulkhead_frame next{};
  int frames_out = 0;
};

// A stream of which packet 0 alone is a keyframe.
class HeldPicturesTest : public testing::Test {
 protected:
  HeldPicturesTest() {
    table_.open = [](auto, const bulkhead_runtime* runtime, auto decoder) {
      *decoder = static_cast<bulkhead_decoder*>(runtime->context);
      return BULKHEAD_OK;
    };
    table_.receive_frame = [](bulkhead_decoder* decoder,
                              bulkhead_frame* frame) {
      auto* vendor = reinterpret_cast<Vendor*>(decoder);
      ++vendor->frames_out;
      *frame = vendor->next;
      frame->size = sizeof(*frame);
      return BULKHEAD_OK;
    };
    table_.release_frame = [](bulkhead_decoder* decoder, bulkhead_frame*) {
      --reinterpret_cast<Vendor*>(decoder)->frames_out;
    };
    table_.close = [](bulkhead_decoder*) {};
    bulkhead_runtime runtime{};
    runtime.context = &vendor_;
    decoder_ = *Decoder::Open(table_, {}, runtime, std::chrono::minutes(1));
    AVCodecParameters* parameters = avcodec_parameters_alloc();
    parameters->codec_type = AVMEDIA_TYPE_VIDEO;
    parameters->codec_id = AV_CODEC_ID_RV40;
    pictures_.Restart(damage::PacketInspector::Create(*parameters));
    avcodec_parameters_free(&parameters);
  }

  void Send(std::initializer_list<int64_t> timestamps, uint32_t flags = 0) {
    static const uint8_t kBytes[AV_INPUT_BUFFER_PADDING_SIZE + 1] = {};
    for (const int64_t pts : timestamps) {
      bulkhead_packet packet{};
      packet.size = sizeof(packet);
      packet.data = kBytes;
      packet.bytes = 1;
      packet.pts = packet.dts = pts;
      packet.position = 100 + pts;
      packet.flags = flags;
      if (pts == 0) packet.flags |= BULKHEAD_PACKET_KEYFRAME;
      pictures_.Sent(packet, /*disposable=*/false);
    }
  }
  ipc::Expected<void> Take(int64_t pts, bool damaged = false) {
    vendor_.next.pts = pts;
    vendor_.next.damaged = damaged;
    DecodedFrame frame;
    EXPECT_TRUE(decoder_->ReceiveFrame(&frame));
    return pictures_.Take(std::move(frame));
  }
  // Returns the timestamps of the pictures that are released.
  Times Released() {
    Times times;
    while (const auto picture = pictures_.Release()) {
      times.push_back(picture->frame->pts);
      EXPECT_EQ(picture->position, 100 + times.back());
    }
    return times;
  }
  Times Lost() {
    Times times;
    for (const ipc::Loss& loss : pictures_.TakeLosses()) {
      times.push_back(loss.pts);
      sign_ = loss.sign;
    }
    return times;
  }

  Vendor vendor_;
  bulkhead_backend table_{};
  std::unique_ptr<Decoder> decoder_;
  HeldPictures pictures_;
  ipc::DamageSign sign_ = ipc::DamageSign::kUnknown;
};

TEST_F(HeldPicturesTest, WithoutAnErrorAPictureIsReleasedAtOnce) {
  for (const int64_t pts : {0, 1, 2}) {
    Send({pts});
    ASSERT_TRUE(Take(pts));
    const auto picture = pictures_.Release();
    ASSERT_TRUE(picture);
    EXPECT_EQ(picture->sign, ipc::DamageSign::kUnknown);
    EXPECT_EQ(Lost(), Times{});
  }
  ASSERT_TRUE(pictures_.End(/*whole=*/true));
  EXPECT_EQ(Released(), Times{});
  EXPECT_TRUE(pictures_.sound());
  EXPECT_EQ(pictures_.packets(), 3u);
}

TEST_F(HeldPicturesTest, ARejectedPacketIsLostAndDamagesThePicturesAfterIt) {
  Send({0, 1});
  pictures_.Rejected();
  EXPECT_FALSE(pictures_.sound());
  Send({2});
  ASSERT_TRUE(Take(0));
  EXPECT_EQ(Released(), Times{0});
  ASSERT_TRUE(Take(2));
  const auto picture = pictures_.Release();
  ASSERT_TRUE(picture);
  EXPECT_EQ(Lost(), Times{1});
  EXPECT_EQ(sign_, ipc::DamageSign::kRejected);
  EXPECT_EQ(picture->sign, ipc::DamageSign::kRefersToDamaged);
}

TEST_F(HeldPicturesTest, AfterAnErrorPicturesAreHeldUntilItIsKnownWhichItHit) {
  Send({0, 2, 1});
  pictures_.Rejected();
  ASSERT_TRUE(Take(0));
  ASSERT_TRUE(Take(1));
  EXPECT_EQ(Released(), Times{0}) << "the packet before may be the damaged one";
  ASSERT_TRUE(Take(2, /*damaged=*/true));
  const auto first = pictures_.Release();
  const auto second = pictures_.Release();
  ASSERT_TRUE(first && second);
  EXPECT_EQ((*first).frame->pts, 1);
  EXPECT_EQ(first->sign, ipc::DamageSign::kRefersToDamaged);
  EXPECT_EQ(second->sign, ipc::DamageSign::kFlagged);
}

TEST_F(HeldPicturesTest, TheFirstLossWaitsForTheNextPicture) {
  Send({0, 1, 2, 3});
  ASSERT_TRUE(Take(0));
  EXPECT_EQ(Released(), Times{0});
  ASSERT_TRUE(Take(2));
  EXPECT_EQ(Released(), Times{});
  EXPECT_EQ(Lost(), Times{});
  ASSERT_TRUE(Take(3));
  ASSERT_TRUE(pictures_.Release());
  EXPECT_EQ(Lost(), Times{1});
  EXPECT_EQ(sign_, ipc::DamageSign::kNoPicture);
  EXPECT_EQ(Released(), Times{3});
}

TEST_F(HeldPicturesTest, ALostPictureThatComesAfterALaterOneIsABreach) {
  Send({0, 1, 2});
  ASSERT_TRUE(Take(0));
  ASSERT_TRUE(Take(2));
  const auto late = Take(1);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ipc::Code::kBackendMisbehaved);
}

TEST_F(HeldPicturesTest, InAMarkedStreamALatePictureIsLeftOut) {
  Send({0, 1, 2}, BULKHEAD_PACKET_CORRUPT);
  for (const int64_t pts : {0, 2, 1, 2}) ASSERT_TRUE(Take(pts));
  EXPECT_EQ(Released(), (Times{0, 2}));
  EXPECT_EQ(Lost(), Times{1});
  EXPECT_EQ(vendor_.frames_out, 0);
}

TEST_F(HeldPicturesTest, ThePictureOfADiscardedPacketIsLeftOut) {
  Send({0});
  Send({1}, BULKHEAD_PACKET_DISCARD);
  Send({2});
  for (const int64_t pts : {0, 1, 2}) ASSERT_TRUE(Take(pts));
  EXPECT_EQ(Released(), (Times{0, 2}));
  EXPECT_EQ(Lost(), Times{});
}

TEST_F(HeldPicturesTest, LossesAfterTheLastPictureAreReportedAfterIt) {
  Send({0, 1, 2});
  ASSERT_TRUE(Take(0));
  ASSERT_TRUE(pictures_.End(/*whole=*/true));
  pictures_.Add({{.pts = 3, .sign = ipc::DamageSign::kCutOff}});
  ASSERT_TRUE(pictures_.Release());
  EXPECT_EQ(Lost(), Times{});
  EXPECT_FALSE(pictures_.Release());
  EXPECT_EQ(Lost(), (Times{1, 2, 3}));
  EXPECT_EQ(Lost(), Times{});
}

TEST_F(HeldPicturesTest, AStreamWithoutAPictureEndsWithLosses) {
  Send({0});
  EXPECT_TRUE(pictures_.End(/*whole=*/true)) << "no headers were read";
  EXPECT_FALSE(pictures_.Release());
  EXPECT_EQ(Lost(), Times{0});
}

TEST_F(HeldPicturesTest, WhatIsForgottenIsGivenBackAndNotReported) {
  Send({0, 1, 2});
  pictures_.Rejected();
  ASSERT_TRUE(Take(1));
  ASSERT_TRUE(Take(2));
  EXPECT_EQ(vendor_.frames_out, 2);
  pictures_.Forget();
  EXPECT_EQ(vendor_.frames_out, 0);
  pictures_.RestartAt(0);
  EXPECT_FALSE(pictures_.sound()) << "the decoder is the same";
  Send({0});
  ASSERT_TRUE(Take(0));
  EXPECT_EQ(Released(), Times{0});
  EXPECT_EQ(Lost(), Times{});
  EXPECT_EQ(pictures_.packets(), 4u);
}

TEST_F(HeldPicturesTest, AtMostSoManyPicturesAreHeld) {
  Send({0, 100});
  pictures_.Rejected();
  for (int64_t pts = 1; pts <= 40; ++pts) {
    Send({pts});
    ASSERT_TRUE(Take(pts));
  }
  EXPECT_EQ(vendor_.frames_out, 40);
  EXPECT_EQ(Released().size(), 40 - HeldPictures::kMost + 1);
}

}  // namespace
}  // namespace bulkhead::worker::decode
