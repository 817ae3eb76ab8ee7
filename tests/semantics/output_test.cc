// SPDX-License-Identifier: Apache-2.0
// Tests the form of a VideoDecoder's frames: the order of dimensions, the
// element type and the transforms.
#include <signal.h>

#include <cmath>
#include <cstring>
#include <sstream>

#include "tests/semantics/semantics_fixture.h"
#include "tests/support/frame_hash.h"
#include "tests/support/program.h"

namespace bulkhead::tests {
namespace {

template <size_t kCount>
using Sizes = std::array<size_t, kCount>;

class Output : public Semantics {
 protected:
  // Returns the hashes of the frames that ffmpeg makes.
  static std::vector<std::string> Reference(const std::string& path,
                                            const std::string& pixel_format,
                                            const std::string& filters) {
    const ProgramResult result =
        RunProgram({"ffmpeg",   "-nostdin",   "-v",        "error",
                    "-threads", "1",          "-i",        path,
                    "-map",     "0:v:0",      "-vf",       filters,
                    "-pix_fmt", pixel_format, "-fps_mode", "passthrough",
                    "-f",       "framehash",  "-hash",     "murmur3",
                    "-"});
    EXPECT_EQ(result.exit_code, 0) << result.Describe();
    std::vector<std::string> hashes;
    std::istringstream lines(result.output);
    for (std::string line; std::getline(lines, line);) {
      if (line[0] == '#') continue;
      hashes.push_back(line.substr(line.rfind(' ') + 1));
    }
    return hashes;
  }

  static float ElementAt(const Frame& frame, size_t row, size_t i) {
    float element;
    std::memcpy(&element, frame.row(static_cast<uint32_t>(row)).data() + 4 * i,
                4);
    return element;
  }

  // Returns the hash of the 16-bit numbers from which the floats were computed.
  static std::string HashOfFloats(const Frame& frame) {
    std::vector<uint16_t> numbers;
    for (uint32_t y = 0; y < frame.height(); ++y) {
      for (size_t i = 0; i < size_t{3} * frame.width(); ++i) {
        numbers.push_back(static_cast<uint16_t>(
            std::lround(ElementAt(frame, y, i) * 65535.0f)));
      }
    }
    return HashOf(std::as_bytes(std::span(numbers)));
  }

  static std::vector<std::string> Hashes(VideoDecoder& video) {
    std::vector<std::string> hashes;
    for (Result<Frame>& frame : video) {
      EXPECT_TRUE(frame) << frame.error();
      hashes.push_back(frame->dtype() == Dtype::kFloat32 ? HashOfFloats(*frame)
                                                         : HashOf(*frame));
    }
    return hashes;
  }

  Code OpenError(std::vector<Transform> transforms) {
    return CodeOf(TryOpen(Clip::kH264, {.transforms = std::move(transforms)}));
  }
};

TEST_P(Output, BothOrdersOfDimensionsAreViewsOfTheSameMemory) {
  VideoDecoder rows = Open(Clip::kOddSize);
  VideoDecoder planes =
      Open(Clip::kOddSize, {.dimension_order = DimensionOrder::kNCHW});
  const Frame a = rows.FrameAt(3).value();
  const Frame b = planes.FrameAt(3).value();
  EXPECT_EQ(a.shape(), (Sizes<3>{143, 175, 3}));
  EXPECT_EQ(a.strides(), (Sizes<3>{a.stride(), 3, 1}));
  EXPECT_EQ(b.shape(), (Sizes<3>{3, 143, 175}));
  EXPECT_EQ(b.strides(), (Sizes<3>{1, b.stride(), 3}));
  EXPECT_EQ(HashOf(a), HashOf(b));
  for (const size_t c : {0, 1, 2}) {
    EXPECT_EQ(a.data()[140 * a.strides()[0] + 170 * a.strides()[1] + c],
              b.data()[c * b.strides()[0] + 140 * b.strides()[1] +
                       170 * b.strides()[2]]);
  }
}

TEST_P(Output, ABatchIsOneBlock) {
  VideoDecoder video =
      Open(Clip::kOddSize, {.dimension_order = DimensionOrder::kNCHW});
  const FrameBatch planes = video.FramesInRange(0, 4).value();
  EXPECT_EQ(planes.pixels.size(), 4u * 143 * 175 * 3);
  EXPECT_EQ(planes.shape(), (Sizes<4>{4, 3, 143, 175}));
  EXPECT_EQ(planes.strides(), (Sizes<4>{143 * 175 * 3, 1, 175 * 3, 3}));
  VideoDecoder other = Open(Clip::kOddSize);
  const FrameBatch rows = other.FramesInRange(0, 4).value();
  EXPECT_EQ(rows.shape(), (Sizes<4>{4, 143, 175, 3}));
  EXPECT_EQ(rows.strides(), (Sizes<4>{143 * 175 * 3, 175 * 3, 3, 1}));
  EXPECT_EQ(rows.pixels, planes.pixels);
}

TEST_P(Output, ABatchGoesIntoTheMemoryOfTheCaller) {
  VideoDecoder video = Open(Clip::kOddSize);
  const std::vector<int64_t> indices = {3, 0, 3};
  std::vector<std::byte> memory(size_t{4} * 143 * 175 * 3, std::byte{0xab});
  const std::vector<std::byte> untouched = memory;
  const std::span<std::byte> all(memory);

  const auto refused =
      video.FramesAt(indices, all.first(3 * 143 * 175 * 3 - 1));
  EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
  EXPECT_NE(refused.error().message().find("it needs 225225, 75075 for each"),
            std::string::npos)
      << refused.error();
  EXPECT_EQ(memory, untouched);

  const auto expect_equal = [&](const FrameBatch& own,
                                const FrameBatch& given) {
    ASSERT_EQ(own.size(), 3u);
    EXPECT_TRUE(given.pixels.empty());
    EXPECT_EQ(given.data(), memory.data());
    EXPECT_EQ(given.pts_seconds, own.pts_seconds);
    EXPECT_TRUE(std::ranges::equal(own.pixels, all.first(own.pixels.size())));
    EXPECT_TRUE(
        std::ranges::equal(all.last(75075), std::span(untouched).last(75075)));
    memory = untouched;
  };
  expect_equal(video.FramesAt(indices).value(),
               video.FramesAt(indices, memory).value());
  expect_equal(video.FramesInRange(1, 4).value(),
               video.FramesInRange(1, 4, 1, memory).value());
  const std::vector<double> times = {0.1, 0, 0.1};
  expect_equal(video.FramesPlayedAt(times).value(),
               video.FramesPlayedAt(times, memory).value());
  expect_equal(video.FramesPlayedInRange(0, 0.3, 10).value(),
               video.FramesPlayedInRange(0, 0.3, 10, memory).value());
  const double whole =
      3 / (video.PlayedRange()->end - video.PlayedRange()->begin);
  expect_equal(video.AllFrames(whole).value(),
               video.AllFrames(whole, memory).value());
}

TEST_P(Output, FloatsAreThe16BitNumbersOfFfmpegDividedBy65535) {
  VideoDecoder video =
      Open(Clip::kH264, {.output_dtype = OutputDtype::kFloat32});
  EXPECT_EQ(video.metadata().dtype, Dtype::kFloat32);
  EXPECT_EQ(Hashes(video),
            Reference(Generate(Clip::kH264).value(), "rgb48le", "null"));
  const Frame frame = video.FrameAt(7).value();
  EXPECT_EQ(frame.strides()[0] * 4, frame.stride());
  for (size_t i = 0; i < size_t{3} * frame.width(); ++i) {
    const float element = ElementAt(frame, 5, i);
    EXPECT_EQ(element,
              static_cast<float>(std::lround(element * 65535)) / 65535);
  }
  EXPECT_EQ(HashOfFloats(frame.Snapshot()), HashOfFloats(frame));
  const FrameBatch batch = video.FramesAt(std::vector<int64_t>{7}).value();
  EXPECT_EQ(batch.dtype, Dtype::kFloat32);
  EXPECT_EQ(batch.pixels.size(), size_t{320} * 240 * 3 * 4);
  EXPECT_EQ(HashOf(batch.picture(0)), HashOf(frame));
}

TEST_P(Output, AWriteToAPrivateMappingStaysInIt) {
  VideoDecoder video = Open(Clip::kH264);
  Frame slot = video.FrameAt(7).value();
  const std::string expected = HashOf(slot);
  const Frame one = slot.MapPrivate().value();
  const Frame other = slot.MapPrivate().value();
  const_cast<std::byte&>(one.row(5)[0]) ^= std::byte{1};
  const std::string written = HashOf(one);
  EXPECT_NE(written, expected);
  EXPECT_EQ(HashOf(slot), expected);
  EXPECT_EQ(HashOf(other), expected);
  EXPECT_EQ(HashOf(one.MapPrivate().value()), written);
  slot = video.FrameAt(8).value();
  EXPECT_EQ(Hashes(video),
            Reference(Generate(Clip::kH264).value(), "rgb24", "null"));
  EXPECT_EQ(HashOf(other), expected);
  EXPECT_EQ(HashOf(one), written);
}

TEST_P(Output, TheDtypeIsChosenByTheDepthOfTheStream) {
  VideoDecoder video = Open(Clip::kH264, {.output_dtype = OutputDtype::kAuto});
  EXPECT_EQ(video.metadata().dtype, Dtype::kUint8);
  const std::string deep = TemporaryDirectory() + "/deep.mkv";
  ASSERT_EQ(RunFfmpeg({"-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.2",
                       "-c:v", "ffv1", "-pix_fmt", "yuv420p10le", deep})
                .exit_code,
            0);
  auto opened = host().OpenVideo(
      deep, {.device = GetParam(), .output_dtype = OutputDtype::kAuto});
  ASSERT_TRUE(opened) << opened.error();
  EXPECT_EQ(opened->metadata().dtype, Dtype::kFloat32);
  EXPECT_EQ(Hashes(*opened), Reference(deep, "rgb48le", "null"));
}

TEST_P(Output, TransformsAreFfmpegs) {
  const std::vector<Transform> transforms = {
      Crop{.top = 10, .left = 20, .height = 200, .width = 280},
      Resize{.height = 64, .width = 96}, CenterCrop{.height = 48, .width = 48}};
  const std::string filters =
      "crop=280:200:20:10:exact=1,scale=96:64:flags=bilinear+full_chroma_int+"
      "full_chroma_inp+accurate_rnd,crop=48:48:24:8:exact=1";
  VideoDecoder bytes = Open(Clip::kH264, {.transforms = transforms});
  EXPECT_EQ(bytes.metadata().width, 48u);
  EXPECT_EQ(bytes.metadata().height, 48u);
  EXPECT_EQ(bytes.metadata().upright_width, 320u);
  EXPECT_EQ(bytes.metadata().upright_height, 240u);
  EXPECT_EQ(Hashes(bytes), Reference(Generate(Clip::kH264).value(), "rgb24",
                                     "format=rgb24," + filters));
  VideoDecoder floats =
      Open(Clip::kH264,
           {.output_dtype = OutputDtype::kFloat32, .transforms = transforms});
  EXPECT_EQ(Hashes(floats), Reference(Generate(Clip::kH264).value(), "rgb48le",
                                      "format=rgb48le," + filters));
}

TEST_P(Output, TransformsComeAfterRotation) {
  VideoDecoder video =
      Open(Clip::kRotated,
           {.transforms = {CenterCrop{.height = 320, .width = 240}}});
  VideoDecoder upright = Open(Clip::kRotated);
  EXPECT_EQ(Hashes(video), Hashes(upright));
  EXPECT_EQ(CodeOf(TryOpen(
                Clip::kRotated,
                {.transforms = {CenterCrop{.height = 240, .width = 320}}})),
            Code::kInvalidArgument);
}

TEST_P(Output, ARandomCropIsTheSameForItsSeedAndForEveryFrame) {
  const auto with = [&](uint64_t seed) {
    return Open(
        Clip::kPng,
        {.transforms = {RandomCrop{.height = 40, .width = 50, .seed = seed}}});
  };
  VideoDecoder first = with(1);
  VideoDecoder again = with(1);
  const auto hashes = Hashes(first);
  EXPECT_EQ(Hashes(again), hashes);
  EXPECT_EQ(HashOf(first.FrameAt(9).value()), hashes[9]);
  size_t others = 0;
  for (uint64_t seed = 2; seed < 6; ++seed) {
    VideoDecoder other = with(seed);
    others += HashOf(other.FrameAt(0).value()) != hashes[0] ? 1 : 0;
  }
  EXPECT_GE(others, 3u);
}

TEST_P(Output, FramesAreTheSameWithANewWorker) {
  const VideoOptions options = {
      .output_dtype = OutputDtype::kAuto,
      .transforms = {Resize{.height = 101, .width = 77},
                     RandomCrop{.height = 50, .width = 50, .seed = 5}}};
  VideoDecoder whole = Open(Clip::kH264, options);
  VideoDecoder killed = Open(Clip::kH264, options);
  std::vector<std::string> hashes;
  for (Result<Frame>& frame : killed) {
    ASSERT_TRUE(frame) << frame.error();
    hashes.push_back(HashOf(*frame));
    if (hashes.size() % 40 == 20) ::kill(killed.worker_pid(), SIGKILL);
  }
  EXPECT_EQ(hashes, Hashes(whole));
  EXPECT_GE(killed.recovery().restarts, 2u);
}

TEST_P(Output, ATransformLeavesAPicture) {
  EXPECT_EQ(OpenError({Resize{.height = 0, .width = 10}}),
            Code::kInvalidArgument);
  EXPECT_EQ(OpenError({CenterCrop{.height = 10, .width = 0}}),
            Code::kInvalidArgument);
  EXPECT_EQ(OpenError(std::vector<Transform>(
                65, CenterCrop{.height = 10, .width = 10})),
            Code::kInvalidArgument);
}

TEST_P(Output, ACropLiesInItsPicture) {
  EXPECT_EQ(OpenError({CenterCrop{.height = 241, .width = 10}}),
            Code::kInvalidArgument);
  EXPECT_EQ(OpenError({RandomCrop{.height = 10, .width = 321}}),
            Code::kInvalidArgument);
  EXPECT_EQ(OpenError({Crop{.left = 311, .height = 10, .width = 10}}),
            Code::kInvalidArgument);
  EXPECT_EQ(OpenError({Crop{.top = UINT32_MAX, .height = 1, .width = 1}}),
            Code::kInvalidArgument);
}

TEST_P(Output, ResizingKeepsToTheLimitOfPixels) {
  EXPECT_EQ(OpenError({Resize{.height = 100'000, .width = 100'000}}),
            Code::kResourceExhausted);
  EXPECT_EQ(OpenError({Resize{.height = UINT32_MAX, .width = UINT32_MAX},
                       CenterCrop{.height = 10, .width = 10}}),
            Code::kResourceExhausted);
}

INSTANTIATE_TEST_SUITE_P(Backends, Output, testing::Values("cpu", "openreg:0"),
                         [](const auto& device) {
                           return device.param == "cpu" ? "Cpu" : "Openreg";
                         });

}  // namespace
}  // namespace bulkhead::tests
