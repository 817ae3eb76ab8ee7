// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace bulkhead::worker::zygote {

// Makes libavcodec compute the tables of common codecs ahead of time.
// libavcodec computes them when a process first opens a decoder. Tables that
// the zygote has computed are shared by its clones; otherwise each clone would
// spend milliseconds and a megabyte of its own (H.264: 2 to 4 ms, 1.1 MB).
//
//     CodecTables tables;
//     while (idle() && tables.PrepareNext()) {}
//
// Opens decoders without any media and closes them again. Used by one thread.
class CodecTables {
 public:
  // Prepares the tables of one more codec, within 5 ms. Returns false if there
  // is none left.
  bool PrepareNext();

 private:
  size_t next_ = 0;
};

}  // namespace bulkhead::worker::zygote
