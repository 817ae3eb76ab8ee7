// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/cli/output.h"
#include "tools/cli/writers/frame_writer.h"
#include "tools/cli/writers/output_pattern.h"

namespace bulkhead::cli {

// Encodes the picture as PNG, compressed for speed rather than size. Floats
// become 16 bits.
Result<std::vector<std::byte>> EncodePng(const Picture& picture);

// Writes a picture to one file of its own.
Status WritePngFile(const Picture& picture, const std::string& path);

// Writes each frame to a file of its own, numbered by the index of the frame.
class PngFilesWriter : public FrameWriter {
 public:
  explicit PngFilesWriter(OutputPattern pattern);

  Status Write(const Picture& picture) override;
  Status Finish() override { return Status(); }

 private:
  const OutputPattern pattern_;
};

// Writes one PNG after the other to one output, as `ffmpeg -f png_pipe` reads
// them. Borrows the output.
class PngStreamWriter : public StreamWriter {
 public:
  using StreamWriter::StreamWriter;

 private:
  Status WriteFrame(const Picture& picture) override;
};

}  // namespace bulkhead::cli
