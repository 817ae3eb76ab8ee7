// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "bulkhead/status.h"
#include "core/python/bindings/strings.h"

namespace bulkhead::python {

// Errors of the library become exceptions of Python. The module
// bulkhead._errors defines one class for each Code.

// Returns the value, or throws the error as a StatusError. A StatusError that
// leaves a function called by Python becomes the Python exception of its code.
template <typename T>
T ValueOf(Result<T> result) {
  return std::move(result).value();
}
inline void ValueOf(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

// Makes the module translate StatusError, and defines the class ExitReport: an
// exception has one if a worker's end is its cause.
void DefineErrors(pybind11::module_& module);

}  // namespace bulkhead::python
