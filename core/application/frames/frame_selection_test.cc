// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/frame_selection.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/worker_protocol/frame_pool.h"

namespace bulkhead::frames {
namespace {

constexpr uint32_t kWidth = 2;
constexpr uint32_t kHeight = 2;
constexpr uint32_t kStride = 64;

// A picture whose every byte is its number.
Frame FrameOf(uint64_t index) {
  std::vector<std::byte> pixels(kHeight * kStride,
                                static_cast<std::byte>(index));
  return Frame(std::make_shared<worker_protocol::FrameLease>(std::move(pixels)),
               {.width = kWidth,
                .height = kHeight,
                .stride = kStride,
                .index = index,
                .pts_seconds = 10.0 * static_cast<double>(index),
                .duration_seconds = 0.5},
               std::make_shared<const std::string>("cpu"));
}

class FetchIntoTest : public ::testing::Test {
 protected:
  Status Fetch(const FrameChoice& choice) {
    return FetchInto(batch_, choice,
                     [this](uint64_t index) -> Result<std::optional<Frame>> {
                       asked_.push_back(index);
                       if (index == failing_)
                         return Status(Code::kBadInput, "it fails");
                       if (damaged_.count(index) > 0)
                         return std::optional<Frame>();
                       return std::make_optional(FrameOf(index));
                     });
  }

  // The numbers of the pictures in the batch.
  std::vector<uint64_t> Pictures() const {
    std::vector<uint64_t> numbers;
    const size_t bytes = batch_.picture_bytes();
    EXPECT_EQ(batch_.pixels.size(),
              batch_.caller_pixels.empty() ? bytes * batch_.size() : 0);
    for (size_t at = 0; at < batch_.size(); ++at) {
      const std::byte number = batch_.picture(at)[0];
      for (const std::byte byte : batch_.picture(at)) EXPECT_EQ(byte, number);
      numbers.push_back(static_cast<uint64_t>(number));
    }
    return numbers;
  }

  FrameBatch batch_{.width = kWidth, .height = kHeight};
  std::set<uint64_t> damaged_;
  std::optional<uint64_t> failing_;
  std::vector<uint64_t> asked_;
};

using Numbers = std::vector<uint64_t>;
using Times = std::vector<double>;

TEST_F(FetchIntoTest, DecodesInOrderAndGivesTheOrderThatWasAskedFor) {
  ASSERT_TRUE(Fetch({.indices = {5, 1, 3}}).ok());
  EXPECT_EQ(asked_, (Numbers{1, 3, 5}));
  EXPECT_EQ(Pictures(), (Numbers{5, 1, 3}));
  EXPECT_EQ(batch_.pts_seconds, (Times{50, 10, 30}));
  EXPECT_EQ(batch_.duration_seconds, (Times{0.5, 0.5, 0.5}));
}

TEST_F(FetchIntoTest, FetchesAFrameOnceThatIsAskedForTwice) {
  ASSERT_TRUE(Fetch({.indices = {2, 7, 2}}).ok());
  EXPECT_EQ(asked_, (Numbers{2, 7}));
  EXPECT_EQ(Pictures(), (Numbers{2, 7, 2}));
}

TEST_F(FetchIntoTest, LeavesOutWhatIsNotThereInOnePass) {
  damaged_ = {1, 4, 6};
  ASSERT_TRUE(Fetch({.indices = {6, 0, 4, 3, 1, 5}}).ok());
  EXPECT_EQ(asked_, (Numbers{0, 1, 3, 4, 5, 6}));
  EXPECT_EQ(Pictures(), (Numbers{0, 3, 5}));
  EXPECT_EQ(batch_.pts_seconds, (Times{0, 30, 50}));
  EXPECT_EQ(batch_.duration_seconds, (Times{0.5, 0.5, 0.5}));
}

TEST_F(FetchIntoTest, LeavesOutEachOfTwins) {
  damaged_ = {4};
  ASSERT_TRUE(Fetch({.indices = {4, 2, 4, 3, 4}}).ok());
  EXPECT_EQ(asked_, (Numbers{2, 3, 4}));
  EXPECT_EQ(Pictures(), (Numbers{2, 3}));
}

TEST_F(FetchIntoTest, FramesKeepTheTimesThatAreChosenForThem) {
  damaged_ = {1};
  ASSERT_TRUE(Fetch({.indices = {0, 1, 2},
                     .pts_seconds = {0.1, 0.2, 0.3},
                     .duration_seconds = 0.1})
                  .ok());
  EXPECT_EQ(Pictures(), (Numbers{0, 2}));
  EXPECT_EQ(batch_.pts_seconds, (Times{0.1, 0.3}));
  EXPECT_EQ(batch_.duration_seconds, (Times{0.1, 0.1}));
}

TEST_F(FetchIntoTest, WritesIntoTheMemoryOfTheCallerAndNotBehindIt) {
  std::vector<std::byte> memory(4 * batch_.picture_bytes() + 1, std::byte{99});
  batch_.caller_pixels = std::span(memory).first(memory.size() - 1);
  damaged_ = {4};
  ASSERT_TRUE(Fetch({.indices = {5, 4, 1, 5}}).ok());
  EXPECT_EQ(Pictures(), (Numbers{5, 1, 5}));
  EXPECT_EQ(batch_.data(), memory.data());
  EXPECT_EQ(memory.back(), std::byte{99});
}

TEST_F(FetchIntoTest, ABatchOfNothingButDamageIsEmpty) {
  damaged_ = {0, 1};
  ASSERT_TRUE(Fetch({.indices = {0, 1}}).ok());
  EXPECT_EQ(Pictures(), Numbers());
  EXPECT_TRUE(batch_.pts_seconds.empty());
}

TEST_F(FetchIntoTest, EndsWithTheFirstError) {
  failing_ = 3;
  EXPECT_EQ(Fetch({.indices = {9, 3, 1}}).message(), "it fails");
  EXPECT_EQ(asked_, (Numbers{1, 3}));
}

}  // namespace
}  // namespace bulkhead::frames
