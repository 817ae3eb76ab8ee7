// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

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

}  // namespace bulkhead::cli
