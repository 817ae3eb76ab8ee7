// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/examiner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bulkhead::worker::decode {
namespace {

std::unique_ptr<Examiner> Made(Examiner::Options options) {
  auto examiner = Examiner::TakeFrom(options);
  EXPECT_TRUE(examiner);
  EXPECT_TRUE(options.empty());
  return examiner ? std::move(*examiner) : nullptr;
}

std::string MessageOf(const ipc::Expected<void>& result) {
  return result ? "" : result.error().message;
}

class ExaminerTest : public testing::Test {
 protected:
  ExaminerTest() {
    frame_.size = sizeof(frame_);
    frame_.pixel_format = "gray";
    frame_.width = frame_.height = 2;
    frame_.plane_count = 1;
    frame_.data[0] = pixels_.data();
    frame_.stride[0] = 2;
    backend_.release_frame = [](bulkhead_decoder* decoder, bulkhead_frame*) {
      ++*reinterpret_cast<int*>(decoder);
    };
  }
  bulkhead_decoder* decoder() {
    return reinterpret_cast<bulkhead_decoder*>(&released_);
  }

  std::array<uint8_t, 4> pixels_ = {1, 2, 3, 4};
  bulkhead_frame frame_{};
  bulkhead_backend backend_{};
  int released_ = 0;
};

TEST_F(ExaminerTest, TakesItsOptionsAndLeavesTheOthers) {
  Examiner::Options options = {{"threads", "2"}, {"bulkhead.end-twice", "1"}};
  const auto examiner = Examiner::TakeFrom(options);
  ASSERT_TRUE(examiner && *examiner);
  EXPECT_TRUE((*examiner)->ends_twice());
  ASSERT_EQ(options.size(), 1u);
  const auto none = Examiner::TakeFrom(options);
  EXPECT_TRUE(none && *none == nullptr);
  for (const auto& [key, value] :
       Examiner::Options{{"bulkhead.unknown", "1"},
                         {"bulkhead.hold-frames", "many"},
                         {"bulkhead.expect", "no_such_field=1"}}) {
    Examiner::Options wrong = {{key, value}};
    const auto refused = Examiner::TakeFrom(wrong);
    ASSERT_FALSE(refused) << key;
    EXPECT_EQ(refused.error().code, ipc::Code::kUnsupported);
  }
}

TEST_F(ExaminerTest, AFrameThatChangesBeforeItsReleaseIsFound) {
  const auto examiner = Made({{"bulkhead.hold-frames", "1"}});
  ASSERT_TRUE(examiner->Received(frame_));
  examiner->GivenBack(backend_, decoder(), frame_);
  EXPECT_EQ(released_, 0) << "it is held";
  pixels_[3] ^= 1;
  examiner->ReleaseAll(backend_, decoder());
  EXPECT_EQ(released_, 1);
  EXPECT_NE(MessageOf(examiner->FoundChanged()).find("clause frame-5"),
            std::string::npos);
  EXPECT_TRUE(examiner->FoundChanged()) << "it is told once";
}

TEST_F(ExaminerTest, AWrongFieldIsNamedWithBothValues) {
  const auto examiner =
      Made({{"bulkhead.expect", " sample_aspect_ratio=4:3 color_space=6"}});
  frame_.sample_aspect_ratio = {8, 6};
  frame_.color_space = 6;
  EXPECT_TRUE(examiner->Received(frame_));
  frame_.color_space = 1;
  EXPECT_NE(MessageOf(examiner->Received(frame_))
                .find("frame 1 has the color_space 1 and not 6, against its "
                      "clause color-3"),
            std::string::npos);
}

TEST_F(ExaminerTest, AFieldCanHaveOneOfSeveralValues) {
  const auto examiner =
      Made({{"bulkhead.expect", "sample_aspect_ratio=1:1|unknown"}});
  EXPECT_TRUE(examiner->Received(frame_));
  frame_.sample_aspect_ratio = {1, 1};
  EXPECT_TRUE(examiner->Received(frame_));
  frame_.sample_aspect_ratio = {4, 3};
  EXPECT_NE(MessageOf(examiner->Received(frame_)).find("clause frame-11"),
            std::string::npos);
}

TEST_F(ExaminerTest, APacketIsCutAlsoIfItComesAgain) {
  const auto examiner = Made({{"bulkhead.cut-packet", "2"}});
  bulkhead_packet packet{};
  std::vector<uint8_t> bytes(128, 1);
  packet.data = bytes.data();
  packet.bytes = 64;
  EXPECT_EQ(examiner->InPlaceOf(&packet), &packet);
  for (int i = 0; i < 2; ++i) {
    const bulkhead_packet* cut = examiner->InPlaceOf(&packet);
    ASSERT_EQ(cut->bytes, 32u);
    EXPECT_EQ(std::count(cut->data, cut->data + 32 + 64, 1), 32);
    if (i == 0) examiner->NotTaken();
  }
  EXPECT_EQ(examiner->InPlaceOf(&packet), &packet);
}

}  // namespace
}  // namespace bulkhead::worker::decode
