// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/output_pattern.h"

#include <gtest/gtest.h>

namespace bulkhead::writers {
namespace {

TEST(OutputPattern, NumbersWithLeadingZeros) {
  const OutputPattern pattern = OutputPattern::Parse("out/%06d.png").value();
  EXPECT_TRUE(pattern.numbered());
  EXPECT_EQ(pattern.NameFor(0), "out/000000.png");
  EXPECT_EQ(pattern.NameFor(42), "out/000042.png");
  EXPECT_EQ(pattern.NameFor(12345678), "out/12345678.png");
}

TEST(OutputPattern, NumbersWithoutWidth) {
  EXPECT_EQ(OutputPattern::Parse("f%d").value().NameFor(7), "f7");
}

TEST(OutputPattern, PlainNameIsNotNumbered) {
  const OutputPattern pattern = OutputPattern::Parse("one {0}.png").value();
  EXPECT_FALSE(pattern.numbered());
  EXPECT_EQ(pattern.NameFor(3), "one {0}.png");
}

TEST(OutputPattern, RefusesEveryOtherPercentSign) {
  for (const char* text :
       {"%", "a%", "%s", "%n.png", "%6d", "%00d", "%0d", "%010d", "%-6d", "%ld",
        "%d%d", "%06d/%06d.png", "%%d", "%%", "%d%%", "100%.png"}) {
    const Result<OutputPattern> pattern = OutputPattern::Parse(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_EQ(pattern.error().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace bulkhead::writers
