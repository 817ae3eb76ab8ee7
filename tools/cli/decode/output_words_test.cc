// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/output_words.h"

#include <gtest/gtest.h>

namespace bulkhead::cli::decode {
namespace {

TEST(OutputWords, ASizeIsWidthByHeight) {
  const auto resize = ParseResize("640x360").value();
  EXPECT_EQ(resize.width, 640u);
  EXPECT_EQ(resize.height, 360u);
  EXPECT_EQ(resize.filter, Resize::Filter::kBilinear);
  EXPECT_EQ(ParseResize("1x2:lanczos")->filter, Resize::Filter::kLanczos);
}

TEST(OutputWords, ACropWithoutAPlaceIsTheMiddle) {
  const auto middle = std::get<CenterCrop>(ParseCrop("20x10").value());
  EXPECT_EQ(middle.width, 20u);
  EXPECT_EQ(middle.height, 10u);
  const auto crop = std::get<Crop>(ParseCrop("20x10+3+4").value());
  EXPECT_EQ(crop.width, 20u);
  EXPECT_EQ(crop.height, 10u);
  EXPECT_EQ(crop.left, 3u);
  EXPECT_EQ(crop.top, 4u);
}

TEST(OutputWords, EitherEndOfARangeMayBeLeftOut) {
  EXPECT_EQ(ParseTimes("1.5:2").value(), (decoding::TimeRange{1.5, 2}));
  EXPECT_EQ(ParseTimes("1.5:").value(),
            (decoding::TimeRange{1.5, std::nullopt}));
  EXPECT_EQ(ParseTimes(":2").value(), (decoding::TimeRange{std::nullopt, 2}));
  EXPECT_EQ(ParseTimes("2:2").value(), (decoding::TimeRange{2, 2}));
}

TEST(OutputWords, ARateIsANumberOrAFraction) {
  EXPECT_EQ(ParseRate("25")->value(), 25);
  EXPECT_EQ(ParseRate("29.97")->numerator, 29'970);
  EXPECT_EQ(ParseRate("30000/1001")->denominator, 1001);
}

TEST(OutputWords, AnythingElseIsAnInvalidArgument) {
  for (const char* text : {"", "x", "1x", "x1", "0x5", "5x0", "-1x5", "1x5x",
                           "1x2:", "1x2:best", "99999999999x1", "1 x2"}) {
    EXPECT_EQ(ParseResize(text).error().code(), Code::kInvalidArgument) << text;
  }
  for (const char* text :
       {"", "1x", "1x2+", "1x2+3", "1x2+3+", "1x2++3", "1x2+-1+0", "0x1+0+0"}) {
    EXPECT_EQ(ParseCrop(text).error().code(), Code::kInvalidArgument) << text;
  }
  for (const char* text : {"", "1", "2:1", "a:b", "1:2:3", "nan:1", "1:inf"}) {
    EXPECT_EQ(ParseTimes(text).error().code(), Code::kInvalidArgument) << text;
  }
  for (const char* text :
       {"", "0", "-1", "1/0", "0/1", "25/", "nan", "inf", "1e9", "25fps"}) {
    EXPECT_EQ(ParseRate(text).error().code(), Code::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace bulkhead::cli::decode
