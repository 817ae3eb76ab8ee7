// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

// Small copies of many pictures side by side, row by row, each in a frame of a
// colour that means something to the viewer.
class ContactSheet {
 public:
  struct Color {
    uint8_t red, green, blue;
  };

  // Cells are `cell_width` wide and as high as a picture of `width` x `height`
  // then becomes.
  ContactSheet(uint32_t cells, uint32_t columns, uint32_t cell_width,
               uint32_t width, uint32_t height);

  // `cell` < cells. Pictures are shrunk by averaging.
  void Place(uint32_t cell, const Picture& picture, Color border);
  // Draws a time ("0:12.34") into the lower left corner of a cell; what does
  // not fit is left out.
  void Caption(uint32_t cell, std::string_view time);

  // Valid as long as the sheet.
  Picture picture() const;

 private:
  std::byte* At(uint32_t x, uint32_t y);
  void Paint(uint32_t x, uint32_t y, Color color);

  const uint32_t columns_;
  const uint32_t cell_width_;
  const uint32_t cell_height_;
  const uint32_t width_;
  const uint32_t height_;
  std::vector<std::byte> pixels_;
};

}  // namespace bulkhead::cli
