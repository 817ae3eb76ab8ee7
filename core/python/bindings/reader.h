// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <string>

#include "bulkhead/source.h"
#include "bulkhead/status.h"

namespace bulkhead::python {

// A file-like object as the library reads it: by two functions of Python,
// `read(size)`, which returns an object with bytes, and `seek(offset, whence)`.
// They are called with the GIL, inside a call that has released it.
//
// An exception that they raise cannot pass through the library, so it is kept
// here until the call is over.
class Reader {
 public:
  // The last reference may be dropped without the GIL.
  static std::shared_ptr<Reader> Create(pybind11::function read,
                                        pybind11::function seek);

  Result<size_t> Read(std::span<std::byte> out);
  Result<int64_t> Seek(int64_t offset, int whence);

  // Throws the exception that was kept, if there is one. Needs the GIL.
  void Rethrow();

 private:
  Reader(pybind11::function read, pybind11::function seek);

  // Keeps the exception, and returns the error for the library.
  Status Keep(pybind11::error_already_set raised);

  pybind11::function read_;
  pybind11::function seek_;
  std::optional<pybind11::error_already_set> raised_;
};

// A Source of the library, and its reader if it has one.
struct PythonSource {
  Source source;
  std::shared_ptr<Reader> reader;
};

void DefineSources(pybind11::module_& module);

}  // namespace bulkhead::python
