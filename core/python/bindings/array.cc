// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/array.h"

#include <pybind11/stl.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <utility>

namespace bulkhead::python {

namespace py = pybind11;

Array::Array(size_t count, uint32_t height, uint32_t width, Dtype dtype)
    : shape_{static_cast<py::ssize_t>(count), height, width, 3}, dtype_(dtype) {
  Allocate();
}

Array::Array(const Frame& frame)
    : shape_{frame.height(), frame.width(), 3}, dtype_(frame.dtype()) {
  Allocate();
  if (data_ == nullptr) throw std::bad_alloc();
  std::byte* to = data_;
  for (uint32_t y = 0; y < frame.height(); ++y) {
    const std::span<const std::byte> row = frame.row(y);
    std::memcpy(to, row.data(), row.size());
    to += row.size();
  }
}

Array::Array(FrameBatch batch)
    : shape_{static_cast<py::ssize_t>(batch.size()), batch.height, batch.width,
             3},
      dtype_(batch.dtype) {
  auto owner =
      std::make_shared<std::vector<std::byte>>(std::move(batch.pixels));
  data_ = owner->data();
  memory_ = std::move(owner);
}

Array::Array(AudioSamples samples)
    : shape_{samples.channels, static_cast<py::ssize_t>(samples.count())},
      dtype_(Dtype::kFloat32) {
  auto owner = std::make_shared<std::vector<float>>(std::move(samples.data));
  data_ = reinterpret_cast<std::byte*>(owner->data());
  memory_ = std::move(owner);
}

size_t Array::bytes() const {
  return std::accumulate(shape_.begin(), shape_.end(), BytesOf(dtype_),
                         std::multiplies<>());
}

void Array::Allocate() {
  memory_.reset(std::malloc(bytes()), std::free);
  data_ = static_cast<std::byte*>(memory_.get());
}

py::buffer_info Array::Buffer() {
  const auto item = static_cast<py::ssize_t>(BytesOf(dtype_));
  return py::buffer_info(data_, item, dtype_ == Dtype::kFloat32 ? "f" : "B",
                         static_cast<py::ssize_t>(shape_.size()), shape_,
                         py::detail::c_strides(shape_, item));
}

Array Array::At(py::ssize_t index) const {
  if (index < 0) index += shape_.front();
  if (index < 0 || index >= shape_.front()) throw py::index_error();
  Array part(*this);
  part.shape_.erase(part.shape_.begin());
  part.data_ += part.bytes() * static_cast<size_t>(index);
  return part;
}

void DefineArray(py::module_& module) {
  py::class_<Array>(module, "Array", py::buffer_protocol(),
                    "Numbers in memory of their own, for memoryview(), "
                    "numpy.asarray() and torch.frombuffer().")
      .def_buffer(&Array::Buffer)
      .def("__getitem__", &Array::At, py::arg("index"))
      .def_property_readonly(
          "shape",
          [](const Array& self) { return py::tuple(py::cast(self.shape())); })
      .def_property_readonly("dtype", [](const Array& self) {
        return self.dtype() == Dtype::kFloat32 ? "float32" : "uint8";
      });
}

}  // namespace bulkhead::python
