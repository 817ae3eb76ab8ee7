// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "bulkhead/frame.h"
#include "core/python/bindings/dlpack.h"

namespace bulkhead::python {

// The pixels of a frame where the worker wrote them, which Python reads through
// the buffer protocol and DLPack, and cannot write.
//
// Consumers that ignore that, as torch.from_numpy() does, write to a mapping
// that is copy-on-write and of this Lease alone: nobody else sees it.
//
// Ownership: the slot goes back to the decoder when the Lease and everything
// that was made of it (memoryviews, arrays, capsules, tensors) are gone, in any
// order and on any thread.
class Lease {
 public:
  // As an array, [3, height, width] or [height, width, 3].
  Lease(const Frame& frame, bool channels_first);

  const SharedPicture& picture() const { return view_; }

  // Gives this process its own copy of every page, in place, so that the pixels
  // of a child that is forked next stay when the slot goes back here.
  void OwnPages();

  // Fills all of `view` but `obj`, as bf_getbuffer does. Throws
  // pybind11::buffer_error if `flags` ask for what the memory is not.
  void Fill(Py_buffer& view, int flags);

  using DlpackVersion = std::pair<uint32_t, uint32_t>;
  using DlpackDevice = std::pair<int32_t, int32_t>;
  // As the array API standard defines __dlpack__(). A consumer that does not
  // know the flag for memory that is only read gets a copy.
  pybind11::capsule Dlpack(std::optional<int64_t> stream,
                           std::optional<DlpackVersion> max_version,
                           std::optional<DlpackDevice> dl_device,
                           std::optional<bool> copy) const;

 private:
  const std::shared_ptr<const Frame> frame_;
  const bool channels_first_;
  SharedPicture view_;
  std::array<Py_ssize_t, 3> shape_;
  std::array<Py_ssize_t, 3> strides_;  // In bytes.
};

void DefineLease(pybind11::module_& module);

}  // namespace bulkhead::python
