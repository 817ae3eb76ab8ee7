// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "bulkhead/audio_decoder.h"
#include "bulkhead/frame.h"

namespace bulkhead::python {

// The type of the numbers of an Array, as numpy and struct name it.
struct NumberType {
  const char* name;
  const char* format;
  size_t bytes;
};

// Numbers in memory that nobody else writes, packed, which Python reads and
// writes through the buffer protocol: numpy and torch make arrays and tensors
// of it without a copy. The memory lives until the last of them is gone.
class Array {
 public:
  // Packed pictures of the library, `count` of them: [count, height, width, 3].
  // The memory is not initialized. data() is null if there is not enough
  // memory.
  Array(size_t count, uint32_t height, uint32_t width, Dtype dtype);
  // Copies the pixels, once: [height, width, 3].
  explicit Array(const Frame& frame);
  // Copies a plane, once: [height, width], or [height, width, samples] if
  // elements have several. The bytes of a number are in the order of this
  // machine.
  explicit Array(const Plane& plane);
  // These take over the memory.
  explicit Array(FrameBatch batch);
  explicit Array(AudioSamples samples);  // [channels, count]

  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) noexcept = default;

  std::byte* data() { return data_; }
  size_t bytes() const;
  const NumberType& type() const { return type_; }
  const std::vector<pybind11::ssize_t>& shape() const { return shape_; }

  // Leaves the first `count` pictures, which must be there.
  void Truncate(size_t count) { shape_.front() = count; }

  pybind11::buffer_info Buffer();

  // The numbers of one index of the first dimension, in the same memory.
  // Throws IndexError if there is no such index.
  Array At(pybind11::ssize_t index) const;

 private:
  Array(const Array&) = default;

  void Allocate();

  std::vector<pybind11::ssize_t> shape_;
  NumberType type_;
  std::shared_ptr<void> memory_;
  std::byte* data_ = nullptr;
};

void DefineArray(pybind11::module_& module);

}  // namespace bulkhead::python
