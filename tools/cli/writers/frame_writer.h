// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include "tools/cli/output.h"
#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

// The output of `bulkhead decode`, with one implementation for each format. The
// command creates the writer before it asks for the first frame, so that an
// output that cannot be opened costs no decoding. Not thread-safe.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  // Writes or copies the picture, which need not stay valid after the call.
  virtual Status Write(const Picture& picture) = 0;
  // Flushes the output. Called once, after the last frame.
  virtual Status Finish() = 0;
};

// A writer that puts all frames into one output, after a header. Writes the
// header before the first frame, or in Finish() if there was none. Borrows the
// output, which Finish() closes.
class StreamWriter : public FrameWriter {
 public:
  explicit StreamWriter(Output& output) : output_(output) {}

  Status Write(const Picture& picture) final;
  Status Finish() final;

 protected:
  // Writes nothing, for formats without a header. The first picture is null if
  // there is none.
  virtual Status WriteHeader(const Picture*) { return Status(); }
  virtual Status WriteFrame(const Picture& picture) = 0;

  Output& output() { return output_; }

 private:
  Status Begin(const Picture* first);

  Output& output_;
  bool begun_ = false;
};

}  // namespace bulkhead::cli
