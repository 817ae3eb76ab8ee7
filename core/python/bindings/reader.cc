// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/reader.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "core/python/bindings/errors.h"
#include "core/python/bindings/gil.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

// A view of the bytes of an object with contiguous memory.
class Bytes {
 public:
  // Throws BufferError or TypeError of Python for other objects.
  explicit Bytes(const py::handle& object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) {
      throw py::error_already_set();
    }
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  std::span<const std::byte> span() const {
    return {static_cast<const std::byte*>(view_.buf),
            static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_ = {};
};

// Calls `function` with arguments as Py_BuildValue() takes them.
template <typename... Arguments>
py::object Call(const py::function& function, const char* format,
                Arguments... arguments) {
  PyObject* const result = SleepingIfPythonEnds([&] {
    return PyObject_CallFunction(function.ptr(), format, arguments...);
  });
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(result);
}

PythonSource FromMemory(const py::buffer& buffer, std::string name) {
  const Bytes bytes(buffer);
  const WithoutGil released;
  return {ValueOf(Source::FromMemory(bytes.span(), std::move(name))), nullptr};
}

PythonSource FromReader(py::function read, py::function seek,
                        std::string name) {
  const auto reader = Reader::Create(std::move(read), std::move(seek));
  Result<Source> source = [&] {
    // FromReader() calls the reader to find its size.
    const WithoutGil released;
    return Source::FromReader(
        SeekingReader{
            .read = [reader](
                        std::span<std::byte> out) { return reader->Read(out); },
            .seek = [reader](
                        int64_t offset,
                        int whence) { return reader->Seek(offset, whence); }},
        std::move(name));
  }();
  reader->Rethrow();
  return {ValueOf(std::move(source)), reader};
}

}  // namespace

Reader::Reader(py::function read, py::function seek)
    : read_(std::move(read)), seek_(std::move(seek)) {}

std::shared_ptr<Reader> Reader::Create(py::function read, py::function seek) {
  return std::shared_ptr<Reader>(new Reader(std::move(read), std::move(seek)),
                                 [](Reader* reader) {
                                   const WithGil acquired;
                                   delete reader;
                                 });
}

Result<size_t> Reader::Read(std::span<std::byte> out) {
  const WithGil acquired;
  try {
    const Bytes bytes(Call(read_, "n", static_cast<Py_ssize_t>(out.size())));
    const std::span<const std::byte> got = bytes.span();
    std::memcpy(out.data(), got.data(), std::min(got.size(), out.size()));
    return got.size();
  } catch (py::error_already_set& raised) {
    return Keep(std::move(raised));
  }
}

Result<int64_t> Reader::Seek(int64_t offset, int whence) {
  const WithGil acquired;
  try {
    return py::cast<int64_t>(
        Call(seek_, "Li", static_cast<long long>(offset), whence));
  } catch (py::error_already_set& raised) {
    return Keep(std::move(raised));
  } catch (const py::cast_error& error) {
    return Status(Code::kInvalidArgument, "seek returned no number");
  }
}

Status Reader::Keep(py::error_already_set raised) {
  const Status status(Code::kInvalidArgument, raised.what());
  raised_.emplace(std::move(raised));
  return status;
}

void Reader::Rethrow() {
  if (!raised_) return;
  py::error_already_set raised = *std::move(raised_);
  raised_.reset();
  throw raised;
}

void DefineSources(py::module_& module) {
  py::class_<PythonSource>(module, "Source",
                           "The media that a decoder decodes.")
      .def_static(
          "from_path",
          [](std::string path) {
            return PythonSource{Source(std::move(path)), nullptr};
          },
          py::arg("path"))
      .def_static("from_memory", FromMemory, py::arg("bytes"), py::arg("name"))
      .def_static("from_reader", FromReader, py::arg("read"), py::arg("seek"),
                  py::arg("name"))
      .def_property_readonly("name", [](const PythonSource& self) {
        return Shown(self.source.name());
      });
}

}  // namespace bulkhead::python
