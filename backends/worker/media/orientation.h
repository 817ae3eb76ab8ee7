// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead::worker {

// How a decoded picture is turned before it is shown, in the three steps that
// the ffmpeg command takes: transposition (with a flip of the source rows
// before it and of the resulting rows after it), then a horizontal flip, then a
// vertical one. Either the picture is transposed, or flipped, never both.
struct Orientation {
  bool transpose = false;
  bool flip_source_rows = false;  // of a transposition
  bool flip_result_rows = false;  // of a transposition
  bool flip_horizontally = false;
  bool flip_vertically = false;

  bool IsIdentity() const {
    return !transpose && !flip_horizontally && !flip_vertically;
  }
  // Counter-clockwise: 0, 90, 180 or 270. Mirroring does not count.
  int degrees = 0;

  bool operator==(const Orientation&) const = default;
};

// From a 3x3 display matrix (16.16 fixed point, ISO 14496-12); null is the
// identity. Any bytes may stand in the matrix. Only quarter turns are applied:
// for another angle, which ffmpeg would resample with black corners, the
// picture stays as it was coded.
Orientation OrientationFromDisplayMatrix(const int32_t* matrix_untrusted);

}  // namespace bulkhead::worker
