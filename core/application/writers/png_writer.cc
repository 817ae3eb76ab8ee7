// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/png_writer.h"

#include <fmt/format.h>
#include <png.h>

#include <cmath>
#include <csetjmp>
#include <cstring>
#include <memory>

namespace bulkhead::writers {

namespace {

Status EncodeError(const Picture& picture, const char* reason) {
  return Status(
      Code::kInternal,
      fmt::format("cannot encode frame {} as PNG: {}", picture.index, reason));
}

// Converts floats from 0 to 1 to 16 bits, big-endian as PNG stores them.
void RoundRow(std::span<const std::byte> row, std::span<uint8_t> out) {
  for (size_t i = 0; 2 * i < out.size(); ++i) {
    float element;
    std::memcpy(&element, row.data() + i * sizeof(element), sizeof(element));
    const auto number = static_cast<uint16_t>(std::lround(element * 65535.0f));
    out[2 * i] = static_cast<uint8_t>(number >> 8);
    out[2 * i + 1] = static_cast<uint8_t>(number);
  }
}

void Append(png_structp png, png_bytep data, size_t size) {
  auto* const bytes = static_cast<std::vector<std::byte>*>(png_get_io_ptr(png));
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  bytes->insert(bytes->end(), begin, begin + size);
}

// Encodes a picture of floats with 16 bits a channel into `bytes`, and returns
// whether libpng accepted it. libpng's simple interface would interpret 16 bits
// as linear light, which they are not. `row` is a buffer for one row. The
// caller owns both, because a local object that changes between setjmp and
// longjmp has an indeterminate value afterwards.
bool EncodeDeep(const Picture& picture, std::vector<uint8_t>& row,
                std::vector<std::byte>& bytes) {
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  if (info == nullptr || setjmp(png_jmpbuf(png)) != 0) {
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_set_write_fn(png, &bytes, Append, nullptr);
  png_set_compression_level(png, 1);
  png_set_IHDR(png, info, picture.width, picture.height, 16, PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (uint32_t y = 0; y < picture.height; ++y) {
    RoundRow(picture.row(y), row);
    png_write_row(png, row.data());
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return true;
}

Status WriteFile(std::span<const std::byte> bytes, const std::string& path) {
  Result<std::unique_ptr<Output>> output = Output::Open(path);
  if (!output) return output.error();
  if (Status status = (*output)->Write(bytes); !status.ok()) return status;
  return (*output)->Close();
}

}  // namespace

Result<std::vector<std::byte>> EncodePng(const Picture& picture) {
  if (picture.dtype == Dtype::kFloat32) {
    std::vector<uint8_t> row(size_t{6} * picture.width);
    std::vector<std::byte> bytes;
    if (!EncodeDeep(picture, row, bytes)) {
      return EncodeError(picture, "libpng refused it");
    }
    return bytes;
  }
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = PNG_FORMAT_RGB;
  image.flags = PNG_IMAGE_FLAG_FAST;

  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> bytes(size);
  const int written = png_image_write_to_memory(
      &image, bytes.data(), &size, 0, picture.pixels,
      static_cast<png_int_32>(picture.stride), nullptr);
  if (written == 0) {
    return EncodeError(picture, image.message);
  }
  bytes.resize(size);
  return bytes;
}

Status WritePngFile(const Picture& picture, const std::string& path) {
  Result<std::vector<std::byte>> png = EncodePng(picture);
  return png ? WriteFile(*png, path) : png.error();
}

Status PngFilesWriter::Write(const Picture& picture) {
  Result<std::vector<std::byte>> png = EncodePng(picture);
  if (!png) return png.error();
  Status status = WriteFile(*png, pattern_.NameFor(picture.index));
  output_failed_ = !status.ok();
  return status;
}

Status PngStreamWriter::WriteFrame(const Picture& picture) {
  Result<std::vector<std::byte>> png = EncodePng(picture);
  if (!png) return png.error();
  return output().Write(*png);
}

}  // namespace bulkhead::writers
