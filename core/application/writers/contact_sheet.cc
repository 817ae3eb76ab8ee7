// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/contact_sheet.h"

#include <algorithm>

#include "core/application/writers/digits.h"

namespace bulkhead::writers {
namespace {

constexpr uint32_t kBorder = 4;
constexpr uint32_t kGap = 4;
constexpr std::byte kBackground{0x18};
constexpr uint32_t kScale = 2;  // The size at which a glyph's pixel is drawn.
constexpr ContactSheet::Color kPaper{0x18, 0x18, 0x18};
constexpr ContactSheet::Color kInk{0xf0, 0xf0, 0xf0};

// Returns the distance from one cell to the next, for cells of this size.
uint32_t Pitch(uint32_t size) { return size + 2 * kBorder + kGap; }

// Returns the mean of one channel over a rectangle of the picture: columns x0
// to x1 - 1, rows y0 to y1 - 1.
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

void ContactSheet::Paint(uint32_t x, uint32_t y, Color color) {
  std::byte* const pixel = At(x, y);
  pixel[0] = std::byte{color.red};
  pixel[1] = std::byte{color.green};
  pixel[2] = std::byte{color.blue};
}

void ContactSheet::Place(uint32_t cell, const Picture& picture, Color border) {
  const uint32_t left = kGap + cell % columns_ * Pitch(cell_width_);
  const uint32_t top = kGap + cell / columns_ * Pitch(cell_height_);
  for (uint32_t y = 0; y < cell_height_ + 2 * kBorder; ++y) {
    for (uint32_t x = 0; x < cell_width_ + 2 * kBorder; ++x) {
      Paint(left + x, top + y, border);
    }
  }
  // A pixel of the cell is the mean of the part of the picture that it covers,
  // or the nearest pixel of a picture that is smaller than the cell.
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

void ContactSheet::Caption(uint32_t cell, std::string_view time) {
  // The width of a glyph with the space before it, and the height of a caption
  // with the space above and below its glyphs.
  constexpr uint32_t kAdvance = (kGlyphWidth + 1) * kScale;
  constexpr uint32_t kHeight = (kGlyphHeight + 2) * kScale;
  const auto fitting = std::min<size_t>(
      time.size(),
      cell_width_ < kScale ? 0 : (cell_width_ - kScale) / kAdvance);
  if (fitting == 0 || cell_height_ < kHeight) return;
  const uint32_t left = kGap + cell % columns_ * Pitch(cell_width_) + kBorder;
  const uint32_t top = kGap + cell / columns_ * Pitch(cell_height_) + kBorder +
                       cell_height_ - kHeight;
  const auto width = static_cast<uint32_t>(fitting) * kAdvance + kScale;
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < width; ++x) Paint(left + x, top + y, kPaper);
  }
  for (size_t i = 0; i < fitting; ++i) {
    const uint16_t glyph = GlyphOf(time[i]);
    for (uint32_t y = 0; y < kGlyphHeight * kScale; ++y) {
      for (uint32_t x = 0; x < kGlyphWidth * kScale; ++x) {
        if (!GlyphHas(glyph, x / kScale, y / kScale)) continue;
        Paint(left + kScale + static_cast<uint32_t>(i) * kAdvance + x,
              top + kScale + y, kInk);
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

}  // namespace bulkhead::writers
