// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/worker/media/demux/media_bytes.h"

namespace bulkhead::worker {

// How long a file is according to its own header, where libavformat does not
// say so. It knows the lists of MP4 and the counts of AVI and FLAC, but not
// whether the bytes that they need are there.
struct DeclaredLength {
  // The size of the file; 0 if the header does not say. Sizes that stand for
  // "unknown", as a program that cannot seek back writes them, say nothing.
  int64_t bytes = 0;
  // WAV: the bytes of samples.
  int64_t sample_bytes = 0;
};

// Reads the length of Matroska and WebM (the size of the segment), AVI (the
// sizes of the RIFF chunks at the top) and WAV, RF64 (the chunk with the
// samples). `container` is the name of libavformat's demuxer. The file is
// hostile: reads a bounded number of headers.
DeclaredLength ReadDeclaredLength(std::string_view container, MediaBytes bytes,
                                  int64_t size);

}  // namespace bulkhead::worker
