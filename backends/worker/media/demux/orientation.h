// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead::worker {

// Describes how a decoded picture is turned before display, in the three steps
// of the ffmpeg command: a transposition (with optional flips of the source
// rows before and of the resulting rows after), then a horizontal flip, then a
// vertical flip. A picture is either transposed or flipped, never both.
struct Orientation {
  bool transpose = false;
  bool flip_source_rows = false;  // part of the transposition
  bool flip_result_rows = false;  // part of the transposition
  bool flip_horizontally = false;
  bool flip_vertically = false;

  bool IsIdentity() const {
    return !transpose && !flip_horizontally && !flip_vertically;
  }
  // The same turn in two steps: a vertical flip of the decoded picture, then a
  // counter-clockwise rotation by 0, 90, 180 or 270 degrees. `degrees` is the
  // angle that FFmpeg reads from the matrix (av_display_rotation_get).
  bool vertical_flip = false;
  int degrees = 0;

  bool operator==(const Orientation&) const = default;
};

// Returns the orientation that a 3x3 display matrix (16.16 fixed point, ISO
// 14496-12) asks for; null is the identity. The matrix may hold any bytes. Only
// quarter turns are applied. Pictures with another angle, which ffmpeg would
// resample with black corners, stay as they were coded.
Orientation OrientationFromDisplayMatrix(const int32_t* matrix_untrusted);

}  // namespace bulkhead::worker
