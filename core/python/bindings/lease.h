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

// The pixels of an RGB frame in its slot in shared memory, without a copy.
// Python reads them through the buffer protocol and DLPack, as read-only
// memory.
//
// Some consumers, such as torch.from_numpy(), ignore that it is read-only. Each
// Lease has a private copy-on-write mapping of the slot, so only the views of
// this Lease see what such a consumer writes.
//
// Ownership: the decoder gets the slot back when the Lease and everything made
// from it (memoryviews, arrays, capsules, tensors) are gone, in any order and
// on any thread.
class Lease {
 public:
  // The array is [3, height, width] if `channels_first`, else [height, width,
  // 3].
  Lease(const Frame& frame, bool channels_first);

  const SharedPicture& picture() const { return view_; }

  // Makes the kernel copy every page of the mapping, by writes that change no
  // pixel. The addresses stay the same. So a child that is forked afterwards
  // keeps the pixels even if this process gives the slot back to the decoder.
  void OwnPages();

  // Fills all members of `view` except `obj`, for CPython's bf_getbuffer.
  // Throws pybind11::buffer_error if the memory cannot be given as `flags`
  // demand.
  void Fill(Py_buffer& view, int flags);

  using DlpackVersion = std::pair<uint32_t, uint32_t>;
  using DlpackDevice = std::pair<int32_t, int32_t>;
  // Implements __dlpack__() of Python's array API standard. A consumer of an
  // ABI before 1.0, which has no flag for read-only memory, gets a copy.
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
