// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/array.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "core/application/writers/png_writer.h"
#include "core/python/bindings/errors.h"
#include "core/python/bindings/gil.h"

namespace bulkhead::python {

namespace py = pybind11;

namespace {

constexpr NumberType kBytes = {"uint8", "B", 1};
constexpr NumberType kWords = {"uint16", "H", 2};
constexpr NumberType kLongWords = {"uint32", "I", 4};
constexpr NumberType kFloats = {"float32", "f", 4};

NumberType TypeOf(Dtype dtype) {
  return dtype == Dtype::kFloat32 ? kFloats : kBytes;
}

NumberType TypeOf(SampleType type) {
  switch (type) {
    case SampleType::kUint8:
      return kBytes;
    case SampleType::kUint16:
      return kWords;
    case SampleType::kUint32:
      return kLongWords;
    case SampleType::kFloat32:
      break;
  }
  return kFloats;
}

// Reverses the byte order of each number; a number has `of_one` bytes.
void ReverseEach(std::byte* data, size_t bytes, size_t of_one) {
  for (size_t at = 0; at < bytes; at += of_one) {
    std::reverse(data + at, data + at + of_one);
  }
}

}  // namespace

Array::Array(size_t count, uint32_t height, uint32_t width, Dtype dtype)
    : shape_{static_cast<py::ssize_t>(count), height, width, 3},
      type_(TypeOf(dtype)) {
  Allocate();
}

Array::Array(const Frame& frame)
    : shape_{frame.height(), frame.width(), 3}, type_(TypeOf(frame.dtype())) {
  Allocate();
  if (data_ == nullptr) throw std::bad_alloc();
  std::byte* to = data_;
  for (uint32_t y = 0; y < frame.height(); ++y) {
    const std::span<const std::byte> row = frame.row(y);
    std::memcpy(to, row.data(), row.size());
    to += row.size();
  }
}

Array::Array(const Plane& plane)
    : shape_{plane.height, plane.width}, type_(TypeOf(plane.type)) {
  if (plane.samples > 1) shape_.push_back(plane.samples);
  Allocate();
  if (data_ == nullptr) throw std::bad_alloc();
  std::byte* to = data_;
  for (uint32_t y = 0; y < plane.height; ++y) {
    const std::span<const std::byte> row = plane.row(y);
    std::memcpy(to, row.data(), row.size());
    to += row.size();
  }
  if (plane.big_endian != (std::endian::native == std::endian::big)) {
    ReverseEach(data_, bytes(), type_.bytes);
  }
}

Array::Array(FrameBatch batch)
    : shape_{static_cast<py::ssize_t>(batch.size()), batch.height, batch.width,
             3},
      type_(TypeOf(batch.dtype)) {
  auto owner =
      std::make_shared<std::vector<std::byte>>(std::move(batch.pixels));
  data_ = owner->data();
  memory_ = std::move(owner);
}

Array::Array(AudioSamples samples)
    : shape_{samples.channels, static_cast<py::ssize_t>(samples.count())},
      type_(kFloats) {
  auto owner = std::make_shared<std::vector<float>>(std::move(samples.data));
  data_ = reinterpret_cast<std::byte*>(owner->data());
  memory_ = std::move(owner);
}

size_t Array::bytes() const {
  return std::accumulate(shape_.begin(), shape_.end(), type_.bytes,
                         std::multiplies<>());
}

void Array::Allocate() {
  memory_.reset(std::malloc(bytes()), std::free);
  data_ = static_cast<std::byte*>(memory_.get());
}

py::buffer_info Array::Buffer() {
  const auto item = static_cast<py::ssize_t>(type_.bytes);
  return py::buffer_info(data_, item, type_.format,
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
      .def_property_readonly(
          "dtype", [](const Array& self) { return self.type().name; });
  module.def(
      "encode_png",
      [](uint32_t width, const py::bytes& rgb) {
        const std::string_view rows(rgb);
        const auto png = ValueOf([&] {
          const WithoutGil released;
          return writers::EncodePng(
              {.pixels = reinterpret_cast<const std::byte*>(rows.data()),
               .width = width,
               .height =
                   static_cast<uint32_t>(rows.size() / std::max(3 * width, 1u)),
               .stride = 3 * width});
        }());
        return py::bytes(reinterpret_cast<const char*>(png.data()), png.size());
      },
      py::arg("width"), py::arg("rgb"));
}

}  // namespace bulkhead::python
