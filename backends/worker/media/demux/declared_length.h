// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/worker/media/demux/media_bytes.h"

namespace bulkhead::worker::demux {

// The length of a file according to its own header. If the file is shorter, it
// was cut off. libavformat reports other signs of a cut (the packet lists of
// MP4, the counts of AVI and FLAC), but not these lengths.
struct DeclaredLength {
  // The size of the file; 0 if the header does not say. Programs that write to
  // a pipe cannot fill in the size later, and write a value that stands for
  // "unknown"; such a size counts as 0.
  int64_t bytes = 0;
  // WAV: the number of bytes of samples.
  int64_t sample_bytes = 0;
};

// Reads the length that the header of a file declares:
//   Matroska, WebM: the end of the segment;
//   AVI: the sum of the RIFF chunks at the top level;
//   WAV, RF64: the end of the chunk with the samples.
// `container` is the name of libavformat's demuxer, `size` the true size of the
// file. The file is hostile: reads a bounded number of headers.
DeclaredLength ReadDeclaredLength(std::string_view container, MediaBytes bytes,
                                  int64_t size);

}  // namespace bulkhead::worker::demux
