// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/verify/picture_difference.h"

#include <cmath>
#include <cstring>

namespace bulkhead::cli {

PictureDifference Compare(const Picture& a, const Picture& b) {
  PictureDifference difference{.of = a.bytes()};
  if (a.width != b.width || a.height != b.height) {
    difference.sizes = true;
    return difference;
  }
  uint64_t squares = 0;
  for (uint32_t y = 0; y < a.height; ++y) {
    const auto row = a.row(y);
    const auto other = b.row(y);
    if (std::memcmp(row.data(), other.data(), row.size()) == 0) continue;
    for (size_t i = 0; i < row.size(); ++i) {
      const int by =
          std::to_integer<int>(row[i]) - std::to_integer<int>(other[i]);
      difference.bytes += by != 0 ? 1 : 0;
      squares += static_cast<uint64_t>(by * by);
    }
  }
  if (squares == 0) return difference;
  constexpr double kPeak = 255;
  const double mean =
      static_cast<double>(squares) / static_cast<double>(difference.of);
  difference.psnr = 10 * std::log10(kPeak * kPeak / mean);
  return difference;
}

}  // namespace bulkhead::cli
