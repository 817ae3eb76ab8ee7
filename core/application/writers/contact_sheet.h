// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/application/writers/picture.h"

namespace bulkhead::writers {

// A large picture that shows many small pictures in rows. Each has a border,
// whose colour the caller chooses, and may have a time as caption. Owns the
// pixels. Not thread-safe.
class ContactSheet {
 public:
  struct Color {
    uint8_t red, green, blue;
  };

  // Creates a sheet of `cells` cells in rows of `columns`. A cell is
  // `cell_width` pixels wide, with the aspect ratio of pictures of `width` x
  // `height`.
  ContactSheet(uint32_t cells, uint32_t columns, uint32_t cell_width,
               uint32_t width, uint32_t height);

  // Draws the picture, shrunk by averaging, into the cell number `cell`, which
  // is counted from 0 and must be below `cells`.
  void Place(uint32_t cell, const Picture& picture, Color border);
  // Draws a time ("0:12.34") into the lower left corner of a cell. Leaves out
  // the characters that do not fit.
  void Caption(uint32_t cell, std::string_view time);

  // Returns a view of the sheet, which must outlive the view.
  Picture picture() const;

 private:
  // Returns the address of a pixel.
  std::byte* At(uint32_t x, uint32_t y);
  void Paint(uint32_t x, uint32_t y, Color color);

  const uint32_t columns_;
  const uint32_t cell_width_;
  const uint32_t cell_height_;
  const uint32_t width_;
  const uint32_t height_;
  std::vector<std::byte> pixels_;
};

}  // namespace bulkhead::writers
