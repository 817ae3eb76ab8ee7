// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/png_writer.h"

#include <fmt/format.h>
#include <png.h>

#include <memory>
#include <utility>

namespace bulkhead::cli {

Result<std::vector<std::byte>> EncodePng(const Picture& picture) {
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
    return Status(Code::kInternal, fmt::format("cannot encode frame {} as PNG: "
                                               "{}",
                                               picture.index, image.message));
  }
  bytes.resize(size);
  return bytes;
}

Status WritePngFile(const Picture& picture, const std::string& path) {
  Result<std::vector<std::byte>> png = EncodePng(picture);
  if (!png) return png.error();
  Result<std::unique_ptr<Output>> output = Output::Open(path);
  if (!output) return output.error();
  if (Status status = (*output)->Write(*png); !status.ok()) return status;
  return (*output)->Close();
}

PngFilesWriter::PngFilesWriter(OutputPattern pattern)
    : pattern_(std::move(pattern)) {}

Status PngFilesWriter::Write(const Picture& picture) {
  return WritePngFile(picture, pattern_.NameFor(picture.index));
}

Status PngStreamWriter::Write(const Picture& picture) {
  Result<std::vector<std::byte>> png = EncodePng(picture);
  if (!png) return png.error();
  return output_.Write(*png);
}

}  // namespace bulkhead::cli
