// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/convert/transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ipc/error.h"

extern "C" {
#include <libavutil/pixfmt.h>
}

namespace bulkhead::worker::convert {
namespace {

constexpr uint64_t kNoLimit = 0;
constexpr PictureSize kSize{40, 30};

std::vector<Transform> Only(Transform transform) { return {transform}; }

ipc::Code FitError(std::vector<Transform> transforms,
                   uint64_t max_pixels = kNoLimit) {
  const auto size =
      TransformChain(std::move(transforms)).Fit(kSize, max_pixels);
  EXPECT_FALSE(size);
  return size ? ipc::Code::kInternal : size.error().code;
}

// Makes a picture whose pixels encode their place. One colour has more detail
// than any smaller picture can show.
class Gradient {
 public:
  Gradient() : bytes_(kStride * kSize.height) {
    for (uint32_t y = 0; y < kSize.height; ++y) {
      for (uint32_t x = 0; x < kSize.width; ++x) {
        uint8_t* const pixel = &bytes_[y * kStride + 3 * x];
        pixel[0] = static_cast<uint8_t>(x);
        pixel[1] = static_cast<uint8_t>(y);
        pixel[2] = (x + y) % 2 == 0 ? 255 : 0;
      }
    }
  }
  Picture picture() {
    return {AV_PIX_FMT_RGB24,
            static_cast<int>(kSize.width),
            static_cast<int>(kSize.height),
            {bytes_.data()},
            {kStride}};
  }

 private:
  static constexpr int kStride = 192;
  std::vector<uint8_t> bytes_;
};

// Returns the place of the crop, which its pixels encode.
std::pair<int, int> PlaceOf(Transform crop) {
  Gradient gradient;
  TransformChain chain(Only(crop));
  EXPECT_TRUE(chain.Fit(kSize, kNoLimit));
  const Picture cut = chain.Apply(gradient.picture()).value();
  return {cut.data[0][0], cut.data[0][1]};
}

TEST(TransformTest, TheResultHasTheSizeOfTheLast) {
  TransformChain chain({CenterCrop{{30, 30}}, Resize{{64, 48}}});
  EXPECT_EQ(chain.Fit(kSize, kNoLimit).value(), (PictureSize{64, 48}));
}

TEST(TransformTest, ACenterCropIsInTheMiddle) {
  EXPECT_EQ(PlaceOf(CenterCrop{{20, 10}}), std::make_pair(10, 10));
  EXPECT_EQ(PlaceOf(CenterCrop{{19, 9}}), std::make_pair(10, 10));
  EXPECT_EQ(PlaceOf(CenterCrop{kSize}), std::make_pair(0, 0));
}

TEST(TransformTest, ADrawnCropReachesEveryPlaceAndNoOther) {
  EXPECT_EQ(PlaceOf(DrawnCrop{{36, 30}, 0, 0}), std::make_pair(0, 0));
  EXPECT_EQ(PlaceOf(DrawnCrop{{36, 30}, UINT32_MAX, UINT32_MAX}),
            std::make_pair(4, 0));
  int seen[5] = {};
  for (uint64_t draw = 0; draw < (uint64_t{1} << 32); draw += 1 << 24) {
    ++seen[PlaceOf(DrawnCrop{{36, 30}, static_cast<uint32_t>(draw), 7}).first];
  }
  for (const int times : seen) EXPECT_NEAR(times, 256 / 5, 1);
}

TEST(TransformTest, ACropBeyondItsPictureIsRefused) {
  for (const Transform& transform : std::vector<Transform>{
           CenterCrop{{41, 30}}, CenterCrop{{40, 31}}, DrawnCrop{{41, 1}},
           Crop{{40, 30}, 1, 0}, Crop{{40, 30}, 0, 1},
           Crop{{10, 10}, UINT32_MAX, 0}, Crop{{10, 10}, 0, UINT32_MAX}}) {
    EXPECT_EQ(FitError(Only(transform)), ipc::Code::kInvalidArgument);
  }
  EXPECT_EQ(FitError({Resize{{20, 20}}, CenterCrop{{21, 20}}}),
            ipc::Code::kInvalidArgument);
}

TEST(TransformTest, ASizeOfNothingIsRefused) {
  EXPECT_EQ(FitError(Only(Resize{{0, 10}})), ipc::Code::kInvalidArgument);
  EXPECT_EQ(FitError(Only(Resize{{10, 0}})), ipc::Code::kInvalidArgument);
  EXPECT_EQ(FitError(Only(CenterCrop{{0, 1}})), ipc::Code::kInvalidArgument);
  EXPECT_EQ(FitError(Only(Crop{{1, 0}})), ipc::Code::kInvalidArgument);
}

TEST(TransformTest, NoStepIsLargerThanTheLimit) {
  EXPECT_EQ(FitError({Resize{{100, 101}}, CenterCrop{{1, 1}}}, 10'000),
            ipc::Code::kResourceExhausted);
  EXPECT_EQ(FitError(Only(Resize{{UINT32_MAX, UINT32_MAX}}), 10'000),
            ipc::Code::kResourceExhausted);
}

// Resizes in floating point with a triangle filter as wide as a pixel of the
// smaller picture, which is what antialiased bilinear resizing means.
std::vector<double> Triangle(const Picture& source, int width, int height) {
  const auto weight = [](double at, double center, double scale) {
    return std::max(0.0, 1 - std::fabs(at - center) / std::max(scale, 1.0));
  };
  const double across = static_cast<double>(source.width) / width;
  const double down = static_cast<double>(source.height) / height;
  std::vector<double> result;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sums[3] = {};
      double total = 0;
      for (int v = 0; v < source.height; ++v) {
        const double row = weight(v + 0.5, (y + 0.5) * down, down);
        for (int u = 0; row > 0 && u < source.width; ++u) {
          const double share =
              row * weight(u + 0.5, (x + 0.5) * across, across);
          total += share;
          for (int c = 0; c < 3; ++c) {
            sums[c] += share * source.data[0][v * source.stride[0] + 3 * u + c];
          }
        }
      }
      for (const double sum : sums) result.push_back(sum / total);
    }
  }
  return result;
}

TEST(TransformTest, ShrinkingIsAntialiased) {
  Gradient gradient;
  for (const PictureSize size : {PictureSize{13, 11}, PictureSize{8, 6}}) {
    TransformChain chain(Only(Resize{size}));
    ASSERT_TRUE(chain.Fit(kSize, kNoLimit));
    const Picture resized = chain.Apply(gradient.picture()).value();
    const auto expected =
        Triangle(gradient.picture(), resized.width, resized.height);
    // Implementations differ in what they assume beyond the border.
    for (int y = 1; y + 1 < resized.height; ++y) {
      for (int x = 3; x < 3 * (resized.width - 1); ++x) {
        EXPECT_NEAR(resized.data[0][y * resized.stride[0] + x],
                    expected[3 * y * resized.width + x], 2)
            << x << ", " << y;
      }
    }
  }
}

}  // namespace
}  // namespace bulkhead::worker::convert
