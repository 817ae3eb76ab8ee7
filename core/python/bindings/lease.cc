// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/lease.h"

#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "core/python/bindings/array.h"
#include "core/python/bindings/errors.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

using Triple = std::array<int64_t, 3>;

// Returns a shape or the strides in the order of the dimensions: [rows, pixels,
// channels], or [channels, rows, pixels].
Triple Ordered(int64_t rows, int64_t pixels, int64_t channels,
               bool channels_first) {
  if (channels_first) return {channels, rows, pixels};
  return {rows, pixels, channels};
}

SharedPicture ViewOf(std::shared_ptr<const Frame> frame, bool channels_first) {
  const auto row_stride =  // in elements
      static_cast<int64_t>(frame->stride() / BytesOf(frame->dtype()));
  const std::byte* const data = frame->data();
  const Dtype dtype = frame->dtype();
  const Triple shape =
      Ordered(frame->height(), frame->width(), 3, channels_first);
  return {std::move(frame), data, dtype, shape,
          Ordered(row_stride, 3, 1, channels_first)};
}

SharedPicture CopyOf(const Frame& frame, bool channels_first) {
  auto array = std::make_shared<Array>(frame);
  const std::byte* const data = array->data();
  const int64_t row_stride = int64_t{3} * frame.width();
  return {std::move(array), data, frame.dtype(),
          Ordered(frame.height(), frame.width(), 3, channels_first),
          Ordered(row_stride, 3, 1, channels_first)};
}

int GetBuffer(PyObject* object, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    py::cast<Lease&>(py::handle(object)).Fill(*view, flags);
  } catch (const py::buffer_error& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    return -1;
  }
  view->obj = py::handle(object).inc_ref().ptr();
  return 0;
}

}  // namespace

Lease::Lease(const Frame& frame, bool channels_first)
    : frame_(std::make_shared<const Frame>(ValueOf(frame.MapPrivate()))),
      channels_first_(channels_first),
      view_(ViewOf(frame_, channels_first)) {
  std::ranges::copy(view_.shape, shape_.begin());
  std::ranges::transform(view_.strides, strides_.begin(), [this](int64_t step) {
    return step * static_cast<int64_t>(BytesOf(view_.dtype));
  });
}

void Lease::OwnPages() {
  const auto bytes = size_t{frame_->stride()} * frame_->height();
  auto* const pixels =
      reinterpret_cast<unsigned char*>(const_cast<std::byte*>(view_.data));
  const auto step = static_cast<size_t>(::getpagesize());
  for (size_t at = 0; at < bytes; at += step) {
    // Any write makes the kernel copy the page. This one changes nothing, even
    // if another thread writes at the same time.
    const std::atomic_ref<unsigned char> pixel(pixels[at]);
    unsigned char value = pixel.load();
    pixel.compare_exchange_strong(value, value);
  }
}

void Lease::Fill(Py_buffer& view, int flags) {
  if (flags & PyBUF_WRITABLE) {
    throw py::buffer_error(
        "the pixels of a lease are read-only; numpy.array(lease) copies them");
  }
  // torch.asarray() asks for no strides. It would then get neither shape nor
  // type.
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    throw py::buffer_error(
        "the rows of a lease can be padded, and this consumer takes packed "
        "memory alone; give it bytes(lease), or numpy.array(lease)");
  }
  view.buf = const_cast<std::byte*>(view_.data);
  view.readonly = 1;
  view.itemsize = static_cast<Py_ssize_t>(BytesOf(view_.dtype));
  view.len = view.itemsize * shape_[0] * shape_[1] * shape_[2];
  view.ndim = static_cast<int>(shape_.size());
  view.shape = shape_.data();
  view.strides = strides_.data();
  view.suboffsets = nullptr;
  view.internal = nullptr;
  view.format = nullptr;
  if (flags & PyBUF_FORMAT) {
    view.format = const_cast<char*>(view_.dtype == Dtype::kFloat32 ? "f" : "B");
  }
  const auto wants = [flags](int order) { return (flags & order) == order; };
  const char order = wants(PyBUF_ANY_CONTIGUOUS) ? 'A'
                     : wants(PyBUF_C_CONTIGUOUS) ? 'C'
                     : wants(PyBUF_F_CONTIGUOUS) ? 'F'
                                                 : '\0';
  if (order != '\0' && PyBuffer_IsContiguous(&view, order) == 0) {
    throw py::buffer_error(
        "the rows of a lease are padded, or not in this order");
  }
}

py::capsule Lease::Dlpack(std::optional<int64_t> stream,
                          std::optional<DlpackVersion> max_version,
                          std::optional<DlpackDevice> dl_device,
                          std::optional<bool> copy) const {
  if (stream) {
    throw py::buffer_error("stream is " + std::to_string(*stream) +
                           "; the memory of a CPU has none");
  }
  if (dl_device && *dl_device != DlpackDevice(dlpack::kCpu, 0)) {
    throw py::buffer_error("a lease is memory of the CPU, device (1, 0)");
  }
  const bool versioned = max_version && max_version->first >= 1;
  if (copy == false && !versioned) {
    throw py::buffer_error(
        "the pixels are read-only, which DLPack says from version 1.0 on; "
        "allow a copy, or ask with max_version=(1, 0)");
  }
  const bool copies = copy.value_or(!versioned);
  SharedPicture picture = copies ? CopyOf(*frame_, channels_first_) : view_;
  if (!versioned) return UnversionedCapsule(std::move(picture));
  return VersionedCapsule(std::move(picture),
                          copies ? dlpack::kIsCopied : dlpack::kReadOnly);
}

void DefineLease(py::module_& module) {
  const py::custom_type_setup buffers([](PyHeapTypeObject* type) {
    type->ht_type.tp_as_buffer = &type->as_buffer;
    type->as_buffer.bf_getbuffer = GetBuffer;
  });
  py::class_<Lease>(
      module, "Lease", buffers,
      "The pixels of a frame where the worker wrote them, for memoryview(), "
      "numpy.asarray() and DLPack: read-only, valid until the last view is "
      "gone. It occupies a slot of the decoder as long. What a view writes "
      "that "
      "ignores read-only, as torch.from_numpy() makes, the views of this lease "
      "alone see.")
      .def_property_readonly("shape",
                             [](const Lease& self) {
                               return py::tuple(py::cast(self.picture().shape));
                             })
      .def_property_readonly("dtype",
                             [](const Lease& self) {
                               return self.picture().dtype == Dtype::kFloat32
                                          ? "float32"
                                          : "uint8";
                             })
      .def("_own_pages", &Lease::OwnPages)
      .def("__dlpack__", &Lease::Dlpack, py::kw_only(),
           py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
           py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack_device__",
           [](const Lease&) { return Lease::DlpackDevice(dlpack::kCpu, 0); });
}

}  // namespace bulkhead::python
