// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/frame_rows.h"

namespace bulkhead::python {

namespace py = pybind11;

py::buffer_info FrameRows::Buffer() {
  const auto bytes =
      static_cast<py::ssize_t>(stride() * (frame_.height() - 1) + row_bytes());
  return py::buffer_info(const_cast<std::byte*>(frame_.data()), 1, "B", 1,
                         {bytes}, {py::ssize_t{1}}, /*readonly=*/true);
}

void DefineFrameRows(py::module_& module) {
  py::class_<FrameRows>(module, "FrameRows", py::buffer_protocol(),
                        "The rows of a frame where the worker wrote them, for "
                        "memoryview().")
      .def_buffer(&FrameRows::Buffer)
      .def_property_readonly("stride", &FrameRows::stride)
      .def_property_readonly("row_bytes", &FrameRows::row_bytes);
}

}  // namespace bulkhead::python
