// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include "tools/cli/writers/picture.h"

namespace bulkhead::cli {

// Where `bulkhead decode` puts its frames. One implementation a format, each
// made by the command before the first frame is asked for, so that an output
// that cannot be written costs no decoding. Not thread-safe.
class FrameWriter {
 public:
  virtual ~FrameWriter() = default;

  // Takes what it needs of the picture before it returns.
  virtual Status Write(const Picture& picture) = 0;
  // After the last frame: writes what is left.
  virtual Status Finish() = 0;
};

}  // namespace bulkhead::cli
