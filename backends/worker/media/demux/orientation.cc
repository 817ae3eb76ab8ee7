// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/demux/orientation.h"

#include <cmath>

extern "C" {
#include <libavutil/display.h>
}

namespace bulkhead::worker::demux {

Orientation OrientationFromDisplayMatrix(const int32_t* matrix_untrusted) {
  Orientation orientation;
  if (matrix_untrusted == nullptr) return orientation;
  // The angle of a singular matrix is NaN. No comparison below holds then, so
  // the picture is not turned.
  double clockwise = -std::round(av_display_rotation_get(matrix_untrusted));
  clockwise -= 360 * std::floor(clockwise / 360 + 0.9 / 360);

  const auto is_about = [clockwise](double angle) {
    return std::fabs(clockwise - angle) < 1.0;
  };
  if (is_about(90)) {
    orientation.transpose = true;
    orientation.flip_source_rows = matrix_untrusted[3] <= 0;
    orientation.vertical_flip = !orientation.flip_source_rows;
    orientation.degrees = 270;
  } else if (is_about(180)) {
    orientation.flip_horizontally = matrix_untrusted[0] < 0;
    orientation.flip_vertically = matrix_untrusted[4] < 0;
    // At this angle the first number of the matrix is negative, so there is
    // always a horizontal flip, which equals a vertical flip and a half turn.
    orientation.vertical_flip = !orientation.flip_vertically;
    orientation.degrees = 180;
  } else if (is_about(270)) {
    orientation.transpose = true;
    orientation.flip_source_rows = matrix_untrusted[3] < 0;
    orientation.flip_result_rows = true;
    orientation.vertical_flip = orientation.flip_source_rows;
    orientation.degrees = 90;
  } else if (is_about(0)) {
    orientation.flip_vertically = matrix_untrusted[4] < 0;
    orientation.vertical_flip = orientation.flip_vertically;
  }
  return orientation;
}

}  // namespace bulkhead::worker::demux
