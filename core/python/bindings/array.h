// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "bulkhead/audio_decoder.h"
#include "bulkhead/frame.h"

namespace bulkhead::python {

// The type of the numbers in an Array.
struct NumberType {
  const char* name;    // In numpy: "uint8".
  const char* format;  // In Python's module struct: "B".
  size_t bytes;
};

// An array of numbers without padding, in private memory of this process.
// Python reads and writes it through the buffer protocol, so numpy and torch
// make arrays and tensors of it without a copy. The memory lives as long as the
// Array or any array or tensor that was made from it.
class Array {
 public:
  // Allocates `count` RGB pictures: [count, height, width, 3]. The memory is
  // not initialized. data() is null if there is not enough memory.
  Array(size_t count, uint32_t height, uint32_t width, Dtype dtype);
  // Copies the pixels of an RGB frame: [height, width, 3].
  explicit Array(const Frame& frame);
  // Copies a plane: [height, width], or [height, width, samples] if an element
  // of the plane has several samples, such as NV12's chroma. Numbers get the
  // byte order of this machine.
  explicit Array(const Plane& plane);
  // Take over the memory of their arguments, without a copy.
  explicit Array(FrameBatch batch);      // [count, height, width, 3]
  explicit Array(AudioSamples samples);  // [channels, count]

  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) noexcept = default;

  std::byte* data() { return data_; }
  size_t bytes() const;
  const NumberType& type() const { return type_; }
  const std::vector<pybind11::ssize_t>& shape() const { return shape_; }

  // Shortens the first dimension to `count`, which must not exceed it.
  void Truncate(size_t count) { shape_.front() = count; }

  // Describes the memory for the buffer protocol.
  pybind11::buffer_info Buffer();

  // Returns the part at one index of the first dimension, in the same memory.
  // Negative indices count from the end. Throws IndexError if there is no such
  // index.
  Array At(pybind11::ssize_t index) const;

 private:
  // Makes an Array that shares the memory.
  Array(const Array&) = default;

  // Allocates memory for shape_ and type_; data_ is null on failure.
  void Allocate();

  std::vector<pybind11::ssize_t> shape_;
  NumberType type_;
  std::shared_ptr<void> memory_;
  std::byte* data_ = nullptr;
};

// Defines the class Array, and the function encode_png() for packed RGB.
void DefineArray(pybind11::module_& module);

}  // namespace bulkhead::python
