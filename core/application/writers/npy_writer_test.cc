// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/npy_writer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace bulkhead::writers {
namespace {

std::string WriteAll(int frames) {
  // Two pixels in each of two rows, with 2 bytes of padding.
  const std::vector<std::byte> pixels(16, std::byte{'x'});
  const std::string path = testing::TempDir() + "/npy_writer.npy";
  auto output = Output::Open(path).value();
  NpyWriter writer(5, 7, *output);
  const Picture picture{
      .pixels = pixels.data(), .width = 2, .height = 2, .stride = 8};
  for (int i = 0; i < frames; ++i) {
    EXPECT_TRUE(writer.Write(picture).ok());
  }
  EXPECT_TRUE(writer.Finish().ok());
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Returns the header that numpy 1.24 writes for this shape.
std::string Header(const std::string& shape) {
  const std::string text =
      "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }";
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text +
         std::string(117 - text.size(), ' ') + "\n";
}

TEST(NpyWriter, TheHeaderCountsTheFramesAndTheRowsArePacked) {
  EXPECT_EQ(WriteAll(3), Header("(3, 2, 2, 3)") + std::string(36, 'x'));
}

TEST(NpyWriter, WithoutFramesTheArrayIsEmpty) {
  EXPECT_EQ(WriteAll(0), Header("(0, 7, 5, 3)"));
}

}  // namespace
}  // namespace bulkhead::writers
