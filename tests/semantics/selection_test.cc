// SPDX-License-Identifier: Apache-2.0
// Tests what each request for frames of a VideoDecoder returns, and the code if
// it fails: what the README says, case by case.
#include <limits>
#include <optional>

#include "tests/semantics/semantics_fixture.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {
namespace {

using Indices = std::vector<int64_t>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kFrames = 120;  // of Clip::kH264, 25 a second
constexpr double kEnd = 4.8;

class Selection : public Semantics {
 protected:
  // Returns the hashes of a straight pass.
  static std::vector<std::string> Pass(VideoDecoder& video) {
    std::vector<std::string> hashes;
    for (Result<Frame>& frame : video) hashes.push_back(HashOf(*frame));
    return hashes;
  }

  // Expects that the batch holds the frames of these indices.
  void ExpectBatch(const Result<FrameBatch>& batch, const Indices& indices) {
    if (pass_.empty()) {
      VideoDecoder video = Open(Clip::kH264);
      pass_ = Pass(video);
      ASSERT_EQ(pass_.size(), size_t{kFrames});
    }
    ASSERT_TRUE(batch) << batch.error();
    ASSERT_EQ(batch->size(), indices.size());
    for (size_t i = 0; i < indices.size(); ++i) {
      EXPECT_EQ(HashOf(batch->picture(i)), pass_[indices[i]]) << indices[i];
    }
  }

  static Indices From(int64_t first, int64_t last) {
    Indices indices;
    for (int64_t i = first; i <= last; ++i) indices.push_back(i);
    return indices;
  }

 private:
  std::vector<std::string> pass_;
};

TEST_P(Selection, FrameAtCountsFromEitherEnd) {
  VideoDecoder video = Open(Clip::kH264);
  EXPECT_EQ(video.FrameAt(0)->index(), 0u);
  EXPECT_EQ(video.FrameAt(-1)->index(), 119u);
  EXPECT_EQ(video.FrameAt(-kFrames)->index(), 0u);
  EXPECT_EQ(CodeOf(video.FrameAt(kFrames)), Code::kOutOfRange);
  EXPECT_EQ(CodeOf(video.FrameAt(-kFrames - 1)), Code::kOutOfRange);
}

TEST_P(Selection, FramesAtKeepsOrderAndDuplicates) {
  VideoDecoder video = Open(Clip::kH264);
  ExpectBatch(video.FramesAt(Indices{7, -1, 7, 0}), {7, 119, 7, 0});
  EXPECT_EQ(CodeOf(video.FramesAt(Indices{7, 120})), Code::kOutOfRange);
}

TEST_P(Selection, FramesInRangeIsASlice) {
  VideoDecoder video = Open(Clip::kH264);
  ExpectBatch(video.FramesInRange(3, 10, 3), {3, 6, 9});
  ExpectBatch(video.FramesInRange(-2, std::nullopt), {118, 119});
  ExpectBatch(video.FramesInRange(118, 500), {118, 119});
  ExpectBatch(video.FramesInRange(200, 500), {});
  ExpectBatch(video.FramesInRange(9, 5), {});
  EXPECT_EQ(CodeOf(video.FramesInRange(0, 9, 0)), Code::kInvalidArgument);
}

TEST_P(Selection, EachLoopVisitsEveryFrameFromTheFirst) {
  VideoDecoder video = Open(Clip::kMpeg2);
  ASSERT_TRUE(video.Next());
  const auto once = Pass(video);
  EXPECT_EQ(once.size(), 48u);
  EXPECT_EQ(Pass(video), once);
}

TEST_P(Selection, ALoopEndsBehindAnError) {
  VideoDecoder video = Open(Clip::kH264);
  std::vector<Frame> kept;
  Code code = Code::kOk;
  for (Result<Frame>& frame : video) {
    ASSERT_EQ(code, Code::kOk) << "it went on after an error";
    if (frame) {
      kept.push_back(*std::move(frame));
    } else {
      code = frame.error().code();
    }
  }
  EXPECT_EQ(code, Code::kResourceExhausted) << "every slot is kept";
  EXPECT_EQ(kept.size(), Limits().frame_slots);
}

TEST_P(Selection, TheEndOfTheStreamIsNoErrorOfNext) {
  VideoDecoder video = Open(Clip::kPng);
  EXPECT_EQ(Pass(video).size(), 20u);
  for (int again = 0; again < 2; ++again) {
    const auto next = video.Next();
    ASSERT_TRUE(next) << next.error();
    EXPECT_FALSE(*next);
  }
}

TEST_P(Selection, FramePlayedAtIsTheFrameOnTheScreen) {
  VideoDecoder video = Open(Clip::kH264);
  for (const int64_t index : {0, 1, 17, 118, 119}) {
    const double begin = static_cast<double>(index) / 25;
    for (const double at : {begin, begin + 0.02, begin + 0.0399}) {
      EXPECT_EQ(video.FramePlayedAt(at)->index(), static_cast<uint64_t>(index))
          << at;
    }
  }
}

TEST_P(Selection, EachFrameIsPlayedAtItsOwnTime) {
  for (const Clip clip : AllClips()) {
    VideoDecoder video = Open(clip);
    const uint64_t count = video.FrameCount().value();
    for (uint64_t i = 0; i < count; i += 7) {
      const double at = video.FrameAt(static_cast<int64_t>(i))->pts_seconds();
      EXPECT_EQ(video.FramePlayedAt(at)->index(), i) << ClipName(clip);
    }
  }
}

TEST_P(Selection, NothingIsPlayedBeforeOrAfterTheStream) {
  VideoDecoder video = Open(Clip::kH264);
  for (const double at : {-0.001, kEnd, 1e9}) {
    EXPECT_EQ(CodeOf(video.FramePlayedAt(at)), Code::kOutOfRange) << at;
  }
  EXPECT_EQ(CodeOf(video.FramePlayedAt(kNaN)), Code::kInvalidArgument);
}

TEST_P(Selection, AStreamThatBeginsLateHasNoFrameBefore) {
  VideoDecoder video = Open(Clip::kMpeg2);
  const double begin = video.FrameAt(0)->pts_seconds();
  ASSERT_GT(begin, 1.0);
  EXPECT_EQ(CodeOf(video.FramePlayedAt(0)), Code::kOutOfRange);
  EXPECT_EQ(video.FramePlayedAt(begin)->index(), 0u);
  EXPECT_EQ(video.AllFrames()->size(), 48u);
  EXPECT_EQ(video.AllFrames(24.0)->size(), 48u);
}

TEST_P(Selection, FramesPlayedAtKeepsOrderAndDuplicates) {
  VideoDecoder video = Open(Clip::kH264);
  ExpectBatch(video.FramesPlayedAt(std::vector{4.79, 0.0, 0.05, 0.05}),
              {119, 0, 1, 1});
  ExpectBatch(video.FramesPlayedAt({}), {});
  EXPECT_EQ(CodeOf(video.FramesPlayedAt(std::vector{0.0, kEnd})),
            Code::kOutOfRange);
}

TEST_P(Selection, FramesPlayedInRangeIsHalfOpen) {
  VideoDecoder video = Open(Clip::kH264);
  ExpectBatch(video.FramesPlayedInRange(0, 0.12), {0, 1, 2});
  ExpectBatch(video.FramesPlayedInRange(0.05, 0.1201), {1, 2, 3});
  ExpectBatch(video.FramesPlayedInRange(4.7, kEnd), {117, 118, 119});
  ExpectBatch(video.FramesPlayedInRange(1, 1), {});
}

TEST_P(Selection, ARangeOfTimesLiesInTheStream) {
  VideoDecoder video = Open(Clip::kH264);
  EXPECT_EQ(CodeOf(video.FramesPlayedInRange(2, 1)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(video.FramesPlayedInRange(kNaN, 1)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(video.FramesPlayedInRange(-1, 1)), Code::kOutOfRange);
  EXPECT_EQ(CodeOf(video.FramesPlayedInRange(1, 5)), Code::kOutOfRange);
  EXPECT_EQ(CodeOf(video.FramesPlayedInRange(kEnd, kEnd)), Code::kOutOfRange);
}

TEST_P(Selection, AnotherRateRepeatsFrames) {
  VideoDecoder video = Open(Clip::kH264);
  const auto batch = video.FramesPlayedInRange(1, 1.1, 50.0);
  ExpectBatch(batch, {25, 25, 26, 26, 27});
  for (size_t i = 0; i < batch->size(); ++i) {
    EXPECT_DOUBLE_EQ(batch->pts_seconds[i], 1 + static_cast<double>(i) / 50);
    EXPECT_DOUBLE_EQ(batch->duration_seconds[i], 0.02);
  }
}

TEST_P(Selection, AnotherRateLeavesFramesOut) {
  VideoDecoder video = Open(Clip::kH264);
  ExpectBatch(video.FramesPlayedInRange(0, 1, 5.0), {0, 5, 10, 15, 20});
  ExpectBatch(video.AllFrames(1.0), {0, 25, 50, 75, 100});
  ExpectBatch(video.FramesPlayedInRange(0, 0.1, 4.0), {});
}

TEST_P(Selection, ARateIsPositive) {
  VideoDecoder video = Open(Clip::kH264);
  for (const double fps : {0.0, -25.0, kNaN}) {
    EXPECT_EQ(CodeOf(video.AllFrames(fps)), Code::kInvalidArgument) << fps;
  }
  EXPECT_EQ(CodeOf(video.AllFrames(1e12)), Code::kResourceExhausted);
}

TEST_P(Selection, AllFramesIsTheStraightPass) {
  VideoDecoder video = Open(Clip::kH264);
  ExpectBatch(video.AllFrames(), From(0, 119));
}

TEST_P(Selection, KeyFramesAreKnownByIndex) {
  VideoDecoder video = Open(Clip::kH264);
  const auto indices = video.KeyFrameIndices();
  ASSERT_TRUE(indices) << indices.error();
  EXPECT_EQ(*indices, (Indices{0, 24, 48, 72, 96}));
  for (const int64_t index : *indices) {
    EXPECT_TRUE(video.FrameAt(index)->keyframe()) << index;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Selection,
                         testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return device.param == "cpu" ? "Cpu" : "Openreg";
                         });

}  // namespace
}  // namespace bulkhead::tests
