// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>

#include "bulkhead/source.h"
#include "bulkhead/status.h"

namespace bulkhead::python {

// Lets the library read a file-like object of Python, by its functions
// `read(size)`, which returns an object with bytes, and `seek(offset, whence)`.
// The library calls Read() and Seek() during a call for which the interpreter's
// lock (GIL) was released; they take the lock.
//
// A Python exception of these functions cannot pass through the library. So the
// Reader keeps it and returns an error to the library. After the library's call
// has returned, its caller (Waiting::Run) calls Rethrow(), which throws the
// kept exception.
class Reader {
 public:
  // The last reference may be dropped without the GIL.
  static std::shared_ptr<Reader> Create(pybind11::function read,
                                        pybind11::function seek);

  // Copies bytes to `out`. Returns how many bytes the function `read` returned.
  Result<size_t> Read(std::span<std::byte> out);
  // Returns the new position, in bytes.
  Result<int64_t> Seek(int64_t offset, int whence);

  // Throws the exception that was kept, if there is one. The caller has the
  // GIL.
  void Rethrow();

 private:
  Reader(pybind11::function read, pybind11::function seek);

  // Keeps the exception, and returns an error for the library.
  Status Keep(pybind11::error_already_set raised);

  pybind11::function read_;
  pybind11::function seek_;
  std::optional<pybind11::error_already_set> raised_;
};

// A source of media. `reader` is the object that the source reads from; null
// for a path or memory.
struct PythonSource {
  Source source;
  std::shared_ptr<Reader> reader;
};

void DefineSources(pybind11::module_& module);

}  // namespace bulkhead::python
