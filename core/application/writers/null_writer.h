// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/application/writers/frame_writer.h"

namespace bulkhead::writers {

// Writes nothing, but reads every byte of every picture. So a measurement
// includes the memory traffic of a program that uses its frames.
class NullWriter : public FrameWriter {
 public:
  Status Write(const Picture& picture) override;
  Status Finish() override { return Status(); }
  bool output_failed() const override { return false; }

  // Returns a sum over all bytes. It exists so that the compiler does not
  // remove the reads.
  uint64_t sum() const { return sum_; }

 private:
  uint64_t sum_ = 0;
};

}  // namespace bulkhead::writers
