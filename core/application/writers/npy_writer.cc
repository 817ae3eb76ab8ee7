// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/npy_writer.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace bulkhead::writers {
namespace {

// The size of the header. numpy uses multiples of 64; this is enough for the
// longest shape.
constexpr size_t kHeaderBytes = 128;
// The magic string, version 1.0, and the number of bytes that follow.
constexpr std::string_view kMagic("\x93NUMPY\x01\x00\x76\x00", 10);
static_assert(kHeaderBytes - kMagic.size() == 0x76);

}  // namespace

Status NpyWriter::Write(const Picture& picture) {
  if (count_++ == 0) {
    width_ = picture.width;
    height_ = picture.height;
    Status status = output_.Write(std::string(kHeaderBytes, '\0'));
    if (!status.ok()) return status;
  }
  return pixels_.Write(picture);
}

Status NpyWriter::Finish() {
  if (Status status = output_.Close(); !status.ok()) return status;
  const std::string shape = fmt::format(
      "{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {}, "
      "{}, 3), }}",
      count_, height_, width_);
  return output_.Overwrite(0, fmt::format("{}{:<{}}\n", kMagic, shape,
                                          kHeaderBytes - kMagic.size() - 1));
}

}  // namespace bulkhead::writers
