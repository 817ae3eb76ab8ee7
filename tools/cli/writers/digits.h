// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace bulkhead::cli {

// The characters of a time, drawn by hand. A glyph is 3 pixels wide and 5 high;
// its rows are 3 bits each, the topmost in the highest bits, left before right.
inline constexpr uint32_t kGlyphWidth = 3;
inline constexpr uint32_t kGlyphHeight = 5;

// Nothing for any other character than 0 to 9, colon and point.
constexpr uint16_t GlyphOf(char letter) {
  constexpr std::array<uint16_t, 10> kDigits = {
      0b111'101'101'101'111, 0b010'110'010'010'111, 0b111'001'111'100'111,
      0b111'001'111'001'111, 0b101'101'111'001'001, 0b111'100'111'001'111,
      0b111'100'111'101'111, 0b111'001'010'010'010, 0b111'101'111'101'111,
      0b111'101'111'001'111};
  if (letter >= '0' && letter <= '9') {
    return kDigits[static_cast<size_t>(letter - '0')];
  }
  if (letter == ':') return 0b000'010'000'010'000;
  if (letter == '.') return 0b000'000'000'000'010;
  return 0;
}

constexpr bool GlyphHas(uint16_t glyph, uint32_t x, uint32_t y) {
  const uint32_t bit =
      (kGlyphHeight - 1 - y) * kGlyphWidth + (kGlyphWidth - 1 - x);
  return (glyph >> bit & 1) != 0;
}

}  // namespace bulkhead::cli
