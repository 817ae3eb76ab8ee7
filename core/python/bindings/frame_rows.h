// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <utility>

#include "bulkhead/frame.h"

namespace bulkhead::python {

// The rows of an RGB frame where the worker wrote them, which may have padding
// between them: read-only bytes for modules of this package that read each of
// them once, as a hash and a write to a file do. A Lease, which users have,
// costs a mapping of its own; this costs nothing.
//
// Trust: the worker can write to the bytes as long as it lives. Whoever needs
// them twice takes a copy.
//
// Ownership: the slot goes back to the decoder when this object and all views
// of it are gone.
class FrameRows {
 public:
  // Throws StatusError of a native frame, which has planes.
  explicit FrameRows(Frame frame)
      : frame_(std::move(frame)),
        stride_(frame_.stride()),
        row_bytes_(frame_.row(0).size()) {}

  // Returns the bytes from one row to the next.
  size_t stride() const { return stride_; }
  // Returns the bytes of the pixels of a row.
  size_t row_bytes() const { return row_bytes_; }

  // Describes the memory from the first row to the last, without what follows
  // the last.
  pybind11::buffer_info Buffer();

 private:
  const Frame frame_;
  const size_t stride_;
  const size_t row_bytes_;
};

void DefineFrameRows(pybind11::module_& module);

}  // namespace bulkhead::python
