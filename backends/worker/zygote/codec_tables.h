// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bulkhead::worker::zygote {

// Makes libavcodec compute the static tables of common codecs in the zygote, so
// that its clones share them. libavcodec computes them when a process first
// opens a decoder of the codec, which would cost each clone time and memory
// (H.264: 2 to 4 ms, 1.1 MB).
//
//     CodecTables tables;
//     while (idle() && tables.PrepareNext()) {}
//
// Opens decoders without any media and closes them again. Used by one thread.
class CodecTables {
 public:
  // Computes the tables of one more codec, in at most 5 ms. Returns false if no
  // codec is left.
  bool PrepareNext();

 private:
  size_t next_ = 0;
};

}  // namespace bulkhead::worker::zygote
