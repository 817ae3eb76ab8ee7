// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/reader.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "core/python/bindings/errors.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

std::span<const std::byte> BytesOf(const py::buffer_info& info) {
  return {static_cast<const std::byte*>(info.ptr),
          static_cast<size_t>(info.size * info.itemsize)};
}

py::buffer_info Request(const py::handle& object) {
  return py::reinterpret_borrow<py::buffer>(object).request();
}

PythonSource FromMemory(const py::buffer& bytes, std::string name) {
  const py::buffer_info info = bytes.request();
  const py::gil_scoped_release released;
  return {ValueOf(Source::FromMemory(BytesOf(info), std::move(name))), nullptr};
}

PythonSource FromReader(py::function read, py::function seek,
                        std::string name) {
  const auto reader = Reader::Create(std::move(read), std::move(seek));
  Result<Source> source = [&] {
    // Asks the reader for its size.
    const py::gil_scoped_release released;
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
                                   const py::gil_scoped_acquire acquired;
                                   delete reader;
                                 });
}

Result<size_t> Reader::Read(std::span<std::byte> out) {
  const py::gil_scoped_acquire acquired;
  try {
    const py::object bytes = read_(out.size());
    const py::buffer_info info = Request(bytes);
    const std::span<const std::byte> got = BytesOf(info);
    std::memcpy(out.data(), got.data(), std::min(got.size(), out.size()));
    return got.size();
  } catch (py::error_already_set& raised) {
    return Keep(std::move(raised));
  }
}

Result<int64_t> Reader::Seek(int64_t offset, int whence) {
  const py::gil_scoped_acquire acquired;
  try {
    return py::cast<int64_t>(seek_(offset, whence));
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
