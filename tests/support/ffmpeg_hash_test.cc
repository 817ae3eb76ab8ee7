// SPDX-License-Identifier: Apache-2.0
#include "tests/support/ffmpeg_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

std::vector<std::byte> SomeBytes(size_t count) {
  std::vector<std::byte> bytes(count);
  uint32_t state = 1;
  for (std::byte& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = std::byte(state >> 24);
  }
  return bytes;
}

std::string HashInParts(std::span<const std::byte> bytes, size_t part) {
  FfmpegHash hash;
  while (!bytes.empty()) {
    const size_t size = std::min(part, bytes.size());
    hash.Add(bytes.first(size));
    bytes = bytes.subspan(size);
  }
  return hash.Hex();
}

TEST(FfmpegHash, DoesNotDependOnTheParts) {
  for (const size_t count : {0, 1, 15, 16, 17, 32, 1000}) {
    const auto bytes = SomeBytes(count);
    FfmpegHash whole;
    whole.Add(bytes);
    const std::string expected = whole.Hex();
    for (size_t part = 1; part <= 49; ++part) {
      EXPECT_EQ(HashInParts(bytes, part), expected)
          << count << " bytes in parts of " << part;
    }
  }
}

TEST(FfmpegHash, IsTheOneOfFfmpeg) {
  // A grey picture of 7x5: its 35 bytes end inside of a block.
  const auto bytes = SomeBytes(35);
  const std::string path = TemporaryDirectory() + "/grey";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  const ProgramResult result =
      RunFfmpeg({"-f", "rawvideo", "-pix_fmt", "gray", "-s", "7x5", "-i", path,
                 "-f", "framehash", "-hash", "murmur3", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.Describe();
  std::istringstream lines(result.output);
  std::string last;
  for (std::string line; std::getline(lines, line);) last = line;
  const size_t comma = last.rfind(',');
  ASSERT_NE(comma, std::string::npos) << last;
  EXPECT_EQ(HashInParts(bytes, 7),
            last.substr(last.find_first_not_of(' ', comma + 1)));
}

}  // namespace
}  // namespace bulkhead::tests
