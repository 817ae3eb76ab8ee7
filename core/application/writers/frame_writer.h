// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include "core/application/writers/output.h"
#include "core/application/writers/picture.h"

namespace bulkhead::writers {

// Writes the frames of one video in some format. There is an implementation for
// each format of `bulkhead decode`. The command creates the writer before it
// decodes the first frame, so that an output that cannot be opened costs no
// decoding. Not thread-safe.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  // Writes or copies the picture. The view need only be valid during the call.
  virtual Status Write(const Picture& picture) = 0;
  // Flushes the output. Called once, after the last frame.
  virtual Status Finish() = 0;
  // Returns whether a call failed because of the output, not of the picture.
  virtual bool output_failed() const = 0;
};

// The base class of writers that write all frames into one output, after a
// header. The header is written before the first frame, or in Finish() if there
// was no frame. Borrows the output; Finish() closes it.
class StreamWriter : public FrameWriter {
 public:
  explicit StreamWriter(Output& output) : output_(output) {}

  Status Write(const Picture& picture) final;
  Status Finish() final;
  bool output_failed() const final { return output_.failed(); }

 protected:
  // Writes the header; this default writes none. `first` is the first picture,
  // null if there is none.
  virtual Status WriteHeader(const Picture*) { return Status(); }
  virtual Status WriteFrame(const Picture& picture) = 0;

  Output& output() { return output_; }

 private:
  Status Begin(const Picture* first);

  Output& output_;
  bool begun_ = false;
};

}  // namespace bulkhead::writers
