// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/frame_mapping.h"

#include <gtest/gtest.h>

#include <string>

#include "core/base/text.h"

namespace bulkhead {
namespace {

TEST(FrameMapping, IsReadFromWhatFfprobePrints) {
  const auto mappings = ParseFrameMappings(R"({"frames": [
    {"pts": 0, "duration": 512, "key_frame": 1, "width": 320},
    {"pkt_pts": 512, "pkt_duration": 512, "key_frame": 0},
    {"pts": "1024", "pkt_pts": 3, "duration": 500, "key_frame": false}],
    "streams": []})");
  ASSERT_TRUE(mappings) << mappings.error();
  EXPECT_EQ(*mappings,
            (std::vector<FrameMapping>{
                {0, 512, true}, {512, 512, false}, {1024, 500, false}}));
}

TEST(FrameMapping, WhatIsWrongIsSaid) {
  struct Case {
    const char* json;
    const char* said;
  };
  for (const Case& wrong :
       {Case{"", "not JSON"}, Case{"{", "not JSON"}, Case{"[]", "\"frames\""},
        Case{R"({"frames": 7})", "\"frames\""},
        Case{R"({"frames": []})", "no frames"},
        Case{R"({"frames": [7]})", "frame 0"},
        Case{R"({"frames": [{"duration": 1, "key_frame": 1}]})",
             "no pts in frame 0"},
        Case{R"({"frames": [{"pts": 1, "key_frame": 1}]})",
             "no duration in frame 0"},
        Case{R"({"frames": [{"pts": 1, "duration": 1, "key_frame": 1},
                            {"pts": 2, "duration": 1}]})",
             "no key_frame in frame 1"},
        Case{R"({"frames": [{"pts": "N/A", "duration": 1, "key_frame": 1}]})",
             "N/A"},
        Case{R"({"frames": [{"pts": 1.5, "duration": 1, "key_frame": 1}]})",
             "1.5"}}) {
    const auto mappings = ParseFrameMappings(wrong.json);
    ASSERT_FALSE(mappings) << wrong.json;
    EXPECT_EQ(mappings.error().code(), Code::kInvalidArgument);
    EXPECT_NE(mappings.error().message().find(wrong.said), std::string::npos)
        << mappings.error().message();
  }
}

TEST(FrameMapping, AValueOfAnyDepthIsRefused) {
  constexpr size_t kDepth = 200'000;
  const auto mappings = ParseFrameMappings(
      R"({"frames": [{"pts": )" + std::string(kDepth, '[') +
      std::string(kDepth, ']') + R"(, "duration": 1, "key_frame": 1}]})");
  ASSERT_FALSE(mappings);
  EXPECT_NE(mappings.error().message().find("array"), std::string::npos)
      << mappings.error().message();
}

TEST(FrameMapping, AnErrorEndsBetweenTwoCharacters) {
  std::string text = "xx";
  while (text.size() < 60) text += "\u00e9";
  const auto mappings =
      ParseFrameMappings(R"({"frames": [{"pts": ")" + text + R"("}]})");
  ASSERT_FALSE(mappings);
  EXPECT_TRUE(IsValidUtf8(mappings.error().message()))
      << mappings.error().message();
}

}  // namespace
}  // namespace bulkhead
