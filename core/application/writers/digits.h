// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace bulkhead::writers {

// A bitmap font with the characters of a time, for ContactSheet's captions. A
// glyph is 3 pixels wide and 5 high. It is stored as 5 rows of 3 bits: the top
// row in the highest bits, and within a row the left pixel in the highest bit.
inline constexpr uint32_t kGlyphWidth = 3;
inline constexpr uint32_t kGlyphHeight = 5;

// Returns the glyph of a digit, colon or point. Returns 0, an empty glyph, for
// any other character.
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

// Returns true if the glyph has a pixel at (x, y), counted from the top left
// corner.
constexpr bool GlyphHas(uint16_t glyph, uint32_t x, uint32_t y) {
  const uint32_t bit =
      (kGlyphHeight - 1 - y) * kGlyphWidth + (kGlyphWidth - 1 - x);
  return (glyph >> bit & 1) != 0;
}

}  // namespace bulkhead::writers
