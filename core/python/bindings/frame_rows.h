// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <utility>

#include "bulkhead/frame.h"

namespace bulkhead::python {

// The rows of an RGB frame in its slot in shared memory, without a copy and
// read-only. There may be padding between rows. Only modules of this package
// use it, to hash the bytes or write them to a file. Users get a Lease instead,
// which has a private mapping of the slot.
//
// Trust: the worker can change the bytes as long as it lives. So read each byte
// once; code that needs them twice must copy them.
//
// Ownership: the decoder gets the slot back when this object and all buffers
// made from it are gone.
class FrameRows {
 public:
  // Throws StatusError for a native frame, which has planes instead.
  explicit FrameRows(Frame frame)
      : frame_(std::move(frame)),
        stride_(frame_.stride()),
        row_bytes_(frame_.row(0).size()) {}

  // Returns the number of bytes from the start of a row to the next one's.
  size_t stride() const { return stride_; }
  // Returns the number of bytes in a row without its padding.
  size_t row_bytes() const { return row_bytes_; }

  // Describes the memory for the buffer protocol, from the first row to the
  // last, without the padding after the last.
  pybind11::buffer_info Buffer();

 private:
  const Frame frame_;
  const size_t stride_;
  const size_t row_bytes_;
};

void DefineFrameRows(pybind11::module_& module);

}  // namespace bulkhead::python
