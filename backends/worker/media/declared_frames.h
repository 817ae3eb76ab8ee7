// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/worker/media/media_bytes.h"

namespace bulkhead::worker {

// The number of frames that the header of a file tells, where libavformat reads
// no number. A number that stands for "unknown" tells nothing.
struct DeclaredFrames {
  uint64_t frames = 0;  // 0: not told
  // The number is that of the frames (libvpx, libaom) or the time that they
  // last (libavformat). An IVF file does not say which.
  bool may_be_time = false;
};

// Reads it for IVF and APNG. `container` is the name of libavformat's demuxer.
// The file is hostile.
DeclaredFrames ReadDeclaredFrames(std::string_view container, MediaBytes bytes,
                                  int64_t size);

}  // namespace bulkhead::worker
