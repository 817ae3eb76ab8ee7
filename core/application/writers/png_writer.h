// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/application/writers/frame_writer.h"
#include "core/application/writers/output.h"
#include "core/application/writers/output_pattern.h"

namespace bulkhead::writers {

// Encodes an RGB picture as PNG, with fast instead of strong compression.
// Floats become 16 bits.
Result<std::vector<std::byte>> EncodePng(const Picture& picture);

// Writes a picture as PNG to the file `path`.
Status WritePngFile(const Picture& picture, const std::string& path);

// Writes each frame as PNG to a file of its own, whose number is the index of
// the frame.
class PngFilesWriter : public FrameWriter {
 public:
  explicit PngFilesWriter(OutputPattern pattern)
      : pattern_(std::move(pattern)) {}

  Status Write(const Picture& picture) override;
  Status Finish() override { return Status(); }
  bool output_failed() const override { return output_failed_; }

 private:
  const OutputPattern pattern_;
  bool output_failed_ = false;
};

// Writes the frames as PNGs, one after the other, to one output. `ffmpeg -f
// png_pipe` reads it. Borrows the output.
class PngStreamWriter : public StreamWriter {
 public:
  using StreamWriter::StreamWriter;

 private:
  Status WriteFrame(const Picture& picture) override;
};

}  // namespace bulkhead::writers
