// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bulkhead::worker::demux {

// The way to turn a decoded picture before display. Like the ffmpeg command, it
// turns a picture by either a transposition (rows become columns) or flips.
struct Orientation {
  bool transpose = false;
  // Only with `transpose`: reverse the order of the rows before the
  // transposition or after it.
  bool flip_source_rows = false;
  bool flip_result_rows = false;
  // Only without `transpose`. Both together are a half turn.
  bool flip_horizontally = false;
  bool flip_vertically = false;

  bool IsIdentity() const {
    return !transpose && !flip_horizontally && !flip_vertically;
  }
  // Describe the same turn for the host, in two steps: first a vertical flip of
  // the decoded picture, then a counter-clockwise rotation by 0, 90, 180 or 270
  // degrees. `degrees` is the angle that FFmpeg reads from the matrix
  // (av_display_rotation_get).
  bool vertical_flip = false;
  int degrees = 0;

  bool operator==(const Orientation&) const = default;
};

// Returns the orientation that a 3x3 display matrix (16.16 fixed point, ISO
// 14496-12) asks for; null is the identity. The matrix may hold any bytes. Only
// quarter turns are applied. With any other angle the picture is not turned
// (ffmpeg would resample it with black corners).
Orientation OrientationFromDisplayMatrix(const int32_t* matrix_untrusted);

}  // namespace bulkhead::worker::demux
