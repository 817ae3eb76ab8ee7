// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

// A picture of many small pictures in rows, each with a coloured border. The
// caller chooses the meaning of the colours. Not thread-safe.
class ContactSheet {
 public:
  struct Color {
    uint8_t red, green, blue;
  };

  // Creates a sheet of `cells` cells in rows of `columns`. A cell is
  // `cell_width` pixels wide and keeps the proportions of a picture of `width`
  // x `height`.
  ContactSheet(uint32_t cells, uint32_t columns, uint32_t cell_width,
               uint32_t width, uint32_t height);

  // Draws the picture, shrunk by averaging, into the cell with this number,
  // which must be below `cells`.
  void Place(uint32_t cell, const Picture& picture, Color border);
  // Draws a time ("0:12.34") into the lower left corner of a cell. Leaves out
  // the characters that do not fit.
  void Caption(uint32_t cell, std::string_view time);

  // Returns a view of the sheet, which must outlive the view.
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
