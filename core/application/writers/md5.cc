// SPDX-License-Identifier: Apache-2.0
#include "core/application/writers/md5.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/picture_md5.h"

namespace bulkhead::writers {

std::string Md5(const Picture& picture) {
  if (picture.native()) {
    std::vector<PlaneRows> planes;
    for (const Plane& plane : picture.planes) {
      planes.push_back(
          {plane.data, plane.height, plane.row_bytes(), plane.stride});
    }
    return PictureMd5(planes);
  }
  return PictureMd5(picture.pixels, picture.height, picture.row_bytes(),
                    picture.stride);
}

std::string Md5As16Bits(const Picture& picture) {
  static_assert(std::endian::native == std::endian::little);
  constexpr float kMost = 65535;
  const size_t row_numbers = size_t{3} * picture.width;
  std::vector<uint16_t> numbers(row_numbers * picture.height);
  std::vector<float> row(row_numbers);
  auto to = numbers.begin();
  for (uint32_t y = 0; y < picture.height; ++y) {
    std::memcpy(row.data(), picture.row(y).data(), picture.row_bytes());
    for (const float number : row) {
      *to++ = static_cast<uint16_t>(std::lround(number * kMost));
    }
  }
  const size_t row_bytes = row_numbers * sizeof(uint16_t);
  return PictureMd5(reinterpret_cast<const std::byte*>(numbers.data()),
                    picture.height, row_bytes, row_bytes);
}

}  // namespace bulkhead::writers
