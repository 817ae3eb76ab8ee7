// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/contact_sheet.h"

#include <algorithm>

namespace bulkhead::cli {
namespace {

constexpr uint32_t kBorder = 4;
constexpr uint32_t kGap = 4;
constexpr std::byte kBackground{0x18};

uint32_t Pitch(uint32_t size) { return size + 2 * kBorder + kGap; }

// Mean of one channel over the part of the picture that becomes one pixel.
std::byte Average(const Picture& picture, uint32_t x0, uint32_t x1, uint32_t y0,
                  uint32_t y1, uint32_t channel) {
  uint64_t sum = 0;
  for (uint32_t y = y0; y < y1; ++y) {
    for (uint32_t x = x0; x < x1; ++x) {
      sum += static_cast<uint64_t>(picture.row(y)[3 * x + channel]);
    }
  }
  return static_cast<std::byte>(sum / (uint64_t{x1 - x0} * (y1 - y0)));
}

}  // namespace

ContactSheet::ContactSheet(uint32_t cells, uint32_t columns,
                           uint32_t cell_width, uint32_t width, uint32_t height)
    : columns_(columns),
      cell_width_(cell_width),
      cell_height_(std::max<uint32_t>(1, cell_width * height / width)),
      width_(columns * Pitch(cell_width_) + kGap),
      height_((cells + columns - 1) / columns * Pitch(cell_height_) + kGap),
      pixels_(size_t{3} * width_ * height_, kBackground) {}

std::byte* ContactSheet::At(uint32_t x, uint32_t y) {
  return pixels_.data() + (size_t{y} * width_ + x) * 3;
}

void ContactSheet::Place(uint32_t cell, const Picture& picture, Color border) {
  const uint32_t left = kGap + cell % columns_ * Pitch(cell_width_);
  const uint32_t top = kGap + cell / columns_ * Pitch(cell_height_);
  for (uint32_t y = 0; y < cell_height_ + 2 * kBorder; ++y) {
    for (uint32_t x = 0; x < cell_width_ + 2 * kBorder; ++x) {
      std::byte* pixel = At(left + x, top + y);
      pixel[0] = std::byte{border.red};
      pixel[1] = std::byte{border.green};
      pixel[2] = std::byte{border.blue};
    }
  }
  for (uint32_t y = 0; y < cell_height_; ++y) {
    const uint32_t y0 = y * picture.height / cell_height_;
    const uint32_t y1 =
        std::max(y0 + 1, (y + 1) * picture.height / cell_height_);
    for (uint32_t x = 0; x < cell_width_; ++x) {
      const uint32_t x0 = x * picture.width / cell_width_;
      const uint32_t x1 =
          std::max(x0 + 1, (x + 1) * picture.width / cell_width_);
      std::byte* pixel = At(left + kBorder + x, top + kBorder + y);
      for (uint32_t channel = 0; channel < 3; ++channel) {
        pixel[channel] = Average(picture, x0, x1, y0, y1, channel);
      }
    }
  }
}

Picture ContactSheet::picture() const {
  Picture picture;
  picture.pixels = pixels_.data();
  picture.width = width_;
  picture.height = height_;
  picture.stride = 3 * width_;
  return picture;
}

}  // namespace bulkhead::cli
