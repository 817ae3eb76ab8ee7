// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/verify/picture_difference.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>

namespace bulkhead::cli::verify {
namespace {

// Counts the numbers of two rows that differ, and adds the squares of the
// differences to `squares`.
template <typename Number>
uint64_t CountDifferences(std::span<const std::byte> row,
                          std::span<const std::byte> other, double& squares) {
  uint64_t count = 0;
  for (size_t at = 0; at < row.size(); at += sizeof(Number)) {
    Number a;
    Number b;
    std::memcpy(&a, &row[at], sizeof(a));
    std::memcpy(&b, &other[at], sizeof(b));
    const double by = static_cast<double>(a) - static_cast<double>(b);
    count += by != 0 ? 1 : 0;
    squares += by * by;
  }
  return count;
}

}  // namespace

PictureDifference Compare(const writers::Picture& a,
                          const writers::Picture& b) {
  PictureDifference difference{.of = a.bytes() / BytesOf(a.dtype)};
  if (a.width != b.width || a.height != b.height) {
    difference.sizes = true;
    return difference;
  }
  const bool floats = a.dtype == Dtype::kFloat32;
  double squares = 0;
  for (uint32_t y = 0; y < a.height; ++y) {
    const auto row = a.row(y);
    const auto other = b.row(y);
    if (std::memcmp(row.data(), other.data(), row.size()) == 0) continue;
    difference.numbers += floats
                              ? CountDifferences<float>(row, other, squares)
                              : CountDifferences<uint8_t>(row, other, squares);
  }
  if (difference.numbers == 0) return difference;
  const double peak = floats ? 1 : 255;
  const double mean = squares / static_cast<double>(difference.of);
  difference.psnr = 10 * std::log10(peak * peak / mean);
  return difference;
}

}  // namespace bulkhead::cli::verify
