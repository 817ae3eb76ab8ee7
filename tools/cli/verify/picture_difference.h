// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

// The differences between two pictures with numbers of one type.
struct PictureDifference {
  // They have different sizes; nothing else is compared then.
  bool sizes = false;
  uint64_t numbers = 0;  // that differ, of one picture's
  uint64_t of = 0;
  // The peak signal-to-noise ratio in dB over red, green and blue; nullopt if
  // the pictures are equal.
  std::optional<double> psnr;

  bool none() const { return !sizes && numbers == 0; }
};

// Requires the same Dtype of both.
PictureDifference Compare(const Picture& a, const Picture& b);

}  // namespace bulkhead::cli
