// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/audio_decoder.h>

#include <cstdint>

#include "core/application/writers/output.h"

namespace bulkhead::writers {

// Writes samples as interleaved 32-bit floats, little-endian: raw ("f32le"), or
// after the header of a WAV file ("wav").
//
// The header of a WAV file contains its length. The writer begins with the
// largest number as length, which by convention means "unknown". Finish()
// overwrites it with the true length. In a pipe, and in a file above 4 GiB, the
// length stays "unknown". Borrows the output. Not thread-safe.
class SampleWriter {
 public:
  enum class Format { kRaw, kWav };

  SampleWriter(Format format, Output& output)
      : format_(format), output_(output) {}

  Status Write(const AudioSamples& samples);
  // Closes the output and writes the length. Called once, after the last
  // samples.
  Status Finish();

 private:
  Status WriteHeader(const AudioSamples& samples);
  // Writes the lengths into the header of a finished file, if that is possible.
  Status WriteLengths();

  const Format format_;
  Output& output_;
  bool begun_ = false;
  uint64_t data_bytes_ = 0;
};

}  // namespace bulkhead::writers
