// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/png_writer.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace bulkhead::writers {
namespace {

constexpr uint32_t kWidth = 37;
constexpr uint32_t kHeight = 11;
constexpr uint32_t kStride = 128;

std::vector<std::byte> Draw() {
  std::vector<std::byte> pixels(kStride * kHeight, std::byte{0xee});
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < 3 * kWidth; ++x) {
      pixels[y * kStride + x] = static_cast<std::byte>(x * 7 + y * 31);
    }
  }
  return pixels;
}

Picture View(const std::vector<std::byte>& pixels) {
  Picture picture;
  picture.pixels = pixels.data();
  picture.width = kWidth;
  picture.height = kHeight;
  picture.stride = kStride;
  return picture;
}

std::vector<std::byte> ReadPng(const std::string& path) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_file(&image, path.c_str()), 0)
      << image.message;
  EXPECT_EQ(image.width, kWidth);
  EXPECT_EQ(image.height, kHeight);
  image.format = PNG_FORMAT_RGB;
  std::vector<std::byte> pixels(kStride * kHeight, std::byte{0xee});
  EXPECT_NE(
      png_image_finish_read(&image, nullptr, pixels.data(), kStride, nullptr),
      0)
      << image.message;
  return pixels;
}

TEST(PngWriter, FileReadsBackAsDrawn) {
  const std::vector<std::byte> pixels = Draw();
  const std::string path = testing::TempDir() + "/png_writer/one.png";
  ASSERT_TRUE(WritePngFile(View(pixels), path).ok());
  EXPECT_EQ(ReadPng(path), pixels);
}

TEST(PngWriter, FloatsAreWrittenWithAll16Bits) {
  const std::vector<float> elements = {
      0, 1, 0.5f, 1 / 65535.f, 256 / 65535.f, 40'000 / 65535.f};
  Picture picture;
  picture.pixels = std::as_bytes(std::span(elements)).data();
  picture.width = 2;
  picture.height = 1;
  picture.stride = 24;
  picture.dtype = Dtype::kFloat32;
  const std::string path = testing::TempDir() + "/png_writer/deep.png";
  ASSERT_TRUE(WritePngFile(picture, path).ok());
  FILE* const file = std::fopen(path.c_str(), "rb");
  ASSERT_NE(file, nullptr);
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, file);
  png_read_png(png, info, PNG_TRANSFORM_SWAP_ENDIAN, nullptr);
  EXPECT_EQ(png_get_bit_depth(png, info), 16);
  const auto* row =
      reinterpret_cast<const uint16_t*>(png_get_rows(png, info)[0]);
  EXPECT_EQ(std::vector<uint16_t>(row, row + 6),
            (std::vector<uint16_t>{0, 65535, 32768, 1, 256, 40'000}));
  png_destroy_read_struct(&png, &info, nullptr);
  std::fclose(file);
}

TEST(PngWriter, FilesAreNumberedByFrameIndex) {
  const std::vector<std::byte> pixels = Draw();
  const std::string directory = testing::TempDir() + "/png_writer/many";
  std::filesystem::remove_all(directory);
  PngFilesWriter writer(OutputPattern::Parse(directory + "/%03d.png").value());
  for (uint64_t index : {7, 1200}) {
    Picture picture = View(pixels);
    picture.index = index;
    ASSERT_TRUE(writer.Write(picture).ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(ReadPng(directory + "/007.png"), pixels);
  EXPECT_EQ(ReadPng(directory + "/1200.png"), pixels);
}

// A batch ends if its output fails, and goes on after a picture that cannot be
// encoded.
TEST(PngWriter, FailuresOfTheOutputAreToldFromThoseOfAPicture) {
  const std::vector<std::byte> pixels = Draw();
  Picture empty = View(pixels);
  empty.width = 0;
  PngFilesWriter good(
      OutputPattern::Parse(testing::TempDir() + "/%d.png").value());
  EXPECT_FALSE(good.Write(empty).ok());
  EXPECT_FALSE(good.output_failed());
  PngFilesWriter bad(OutputPattern::Parse("/proc/none/%d.png").value());
  EXPECT_FALSE(bad.Write(View(pixels)).ok());
  EXPECT_TRUE(bad.output_failed());
  auto output = Output::Open("/dev/full").value();
  PngStreamWriter stream(*output);
  EXPECT_FALSE(stream.Write(empty).ok());
  EXPECT_FALSE(stream.output_failed());
}

TEST(PngWriter, StreamHoldsWholeFilesInOrder) {
  const std::vector<std::byte> pixels = Draw();
  const std::string path = testing::TempDir() + "/png_writer/stream";
  auto output = Output::Open(path).value();
  PngStreamWriter writer(*output);
  ASSERT_TRUE(writer.Write(View(pixels)).ok());
  ASSERT_TRUE(writer.Write(View(pixels)).ok());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(std::filesystem::file_size(path),
            2 * EncodePng(View(pixels)).value().size());
  EXPECT_EQ(ReadPng(path), pixels);
}

}  // namespace
}  // namespace bulkhead::writers
