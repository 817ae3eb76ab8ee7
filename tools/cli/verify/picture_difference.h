// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "core/application/writers/picture.h"

namespace bulkhead::cli::verify {

// The difference between two pictures with the same Dtype. A number is the
// value of one component (red, green or blue) of a pixel.
struct PictureDifference {
  // The pictures have different sizes; nothing else was compared.
  bool sizes = false;
  uint64_t numbers = 0;  // The count of numbers that differ.
  uint64_t of = 0;       // The count of all numbers of a picture.
  // The peak signal-to-noise ratio in dB over red, green and blue; nullopt if
  // the pictures are equal.
  std::optional<double> psnr;

  bool none() const { return !sizes && numbers == 0; }
};

// Compares two pictures, which must have the same Dtype.
PictureDifference Compare(const writers::Picture& a, const writers::Picture& b);

}  // namespace bulkhead::cli::verify
