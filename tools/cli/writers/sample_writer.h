// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/audio_decoder.h>

#include <cstdint>
#include <string>

#include "tools/cli/output.h"

namespace bulkhead::cli {

// Samples as 32-bit floats, little-endian, those of one moment together: as
// they are ("f32le"), or behind the header of a WAV file ("wav").
//
// How long a WAV file is stands at its beginning. Until Finish(), and for good
// where that cannot be written any more (a pipe, more than 4 GiB), it is the
// greatest number, as programs write it that do not know. Not thread-safe.
class SampleWriter {
 public:
  enum class Format { kRaw, kWav };

  // `path` is that of `output`, "-" for stdout.
  SampleWriter(Format format, std::string path, Output& output)
      : format_(format), path_(std::move(path)), output_(output) {}

  Status Write(const AudioSamples& samples);
  // After the last; closes the output.
  Status Finish();

 private:
  Status WriteHeader(const AudioSamples& samples);
  Status WriteLengths() const;

  const Format format_;
  const std::string path_;
  Output& output_;
  bool begun_ = false;
  uint64_t data_bytes_ = 0;
};

}  // namespace bulkhead::cli
