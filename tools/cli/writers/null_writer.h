// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tools/cli/writers/frame_writer.h"

namespace bulkhead::cli {

// Writes nothing, but reads every byte of every picture, so that the time it
// takes is that of a program that does something with its frames.
class NullWriter : public FrameWriter {
 public:
  Status Write(const Picture& picture) override;
  Status Finish() override { return Status(); }

  // Of all bytes that were read; keeps the reading from being optimized away.
  uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};

}  // namespace bulkhead::cli
