// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/sdk/bulkhead_backend.h"

namespace bulkhead::worker {

// MissingEnd holds the signs that a stream goes on after the last packet that
// could be read: an error, a declared size, packets. As long as these three
// have the values that they have here, the stream is whole.
struct MissingEnd {
  // The error with which libavformat stopped before the end of the file; empty
  // if it read to the end.
  std::string error;
  // The offset in the file up to which libavformat has read; -1 if unknown.
  int64_t byte = -1;
  // The size that the file should have according to its header (MP4, Matroska,
  // RIFF), if that is more than it has; -1 otherwise.
  int64_t declared_size = -1;
  // How many packets the header lists after the last one that was read (MP4,
  // AVI); 0 if it does not say.
  uint64_t packets = 0;
  // The end of the stream according to the header, in the stream's time base
  // (MP4, Matroska, FLAC; RIFF only of a file that is cut off). Alone it is no
  // sign: whole files end earlier. BULKHEAD_NO_TIMESTAMP: unknown.
  int64_t end = BULKHEAD_NO_TIMESTAMP;
  // That time is rounded (Matroska).
  bool is_rounded = false;
  // That time is known to be the stream's, and not another one's in the file
  // (Matroska).
  bool is_of_stream = false;
  // The file ends within the last packet that was read.
  bool ends_in_packet = false;
};

}  // namespace bulkhead::worker
