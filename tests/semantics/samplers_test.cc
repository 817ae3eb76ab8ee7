// SPDX-License-Identifier: Apache-2.0
// Tests the decoding of sampled clips. core/application/api/clip_plan_test.cc
// tests which frames a clip consists of.
#include "bulkhead/samplers.h"

#include "tests/semantics/semantics_fixture.h"

namespace bulkhead::tests {
namespace {

using Indices = std::vector<int64_t>;

class Samplers : public Semantics {
 protected:
  void ExpectClips(VideoDecoder& video, const Result<ClipBatch>& clips,
                   const Indices& indices) {
    ASSERT_TRUE(clips) << clips.error();
    const FrameBatch expected = video.FramesAt(indices).value();
    EXPECT_EQ(clips->frames.pixels, expected.pixels);
    EXPECT_EQ(clips->frames.pts_seconds, expected.pts_seconds);
    EXPECT_EQ(clips->clips * clips->frames_per_clip, indices.size());
  }
};

TEST_P(Samplers, RegularIndices) {
  VideoDecoder video = Open(Clip::kH264);
  const auto clips = ClipsAtRegularIndices(
      video, {.clips = 2, .frames_per_clip = 3, .indices_between_frames = 5});
  ExpectClips(video, clips, {0, 5, 10, 109, 114, 119});
  EXPECT_EQ(clips->shape(), (std::array<size_t, 5>{2, 3, 240, 320, 3}));
  EXPECT_EQ(clips->strides(),
            (std::array<size_t, 5>{3 * 240 * 960, 240 * 960, 960, 3, 1}));
}

TEST_P(Samplers, RegularTimestamps) {
  VideoDecoder video = Open(Clip::kH264);
  ExpectClips(
      video,
      ClipsAtRegularTimestamps(
          video, 2.0, {.frames_per_clip = 2, .seconds_between_frames = 0.4}),
      {0, 10, 50, 60, 100, 110});
}

TEST_P(Samplers, ASeedGivesTheSameClips) {
  VideoDecoder video = Open(Clip::kH264);
  const IndexClips request{.clips = 3, .frames_per_clip = 2};
  const auto once = ClipsAtRandomIndices(video, request, 11);
  const auto again = ClipsAtRandomIndices(video, request, 11);
  const auto other = ClipsAtRandomIndices(video, request, 12);
  ASSERT_TRUE(once && again && other);
  EXPECT_EQ(once->frames.pts_seconds, again->frames.pts_seconds);
  EXPECT_EQ(once->frames.pixels, again->frames.pixels);
  EXPECT_NE(once->frames.pts_seconds, other->frames.pts_seconds);
  const TimeClips times{.clips = 3, .frames_per_clip = 2};
  EXPECT_EQ(ClipsAtRandomTimestamps(video, times, 11)->frames.pixels,
            ClipsAtRandomTimestamps(video, times, 11)->frames.pixels);
}

TEST_P(Samplers, PoliciesStandInBeyondTheEnd) {
  VideoDecoder video = Open(Clip::kH264);
  IndexClips request{.frames_per_clip = 4, .range_start = -2, .range_end = -1};
  ExpectClips(video, ClipsAtRegularIndices(video, request),
              {118, 119, 119, 119});
  request.policy = ClipPolicy::kWrap;
  ExpectClips(video, ClipsAtRegularIndices(video, request),
              {118, 119, 118, 119});
  request.policy = ClipPolicy::kError;
  EXPECT_EQ(CodeOf(ClipsAtRegularIndices(video, request)), Code::kOutOfRange);
}

TEST_P(Samplers, RequestsThatMeanNothingAreRefused) {
  VideoDecoder video = Open(Clip::kH264);
  EXPECT_EQ(CodeOf(ClipsAtRandomIndices(video, {.clips = 0}, 1)),
            Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(ClipsAtRegularTimestamps(video, 0)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(ClipsAtRandomTimestamps(video, {.range_start = 9}, 1)),
            Code::kOutOfRange);
}

INSTANTIATE_TEST_SUITE_P(Backends, Samplers,
                         testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return device.param == "cpu" ? "Cpu" : "Openreg";
                         });

}  // namespace
}  // namespace bulkhead::tests
