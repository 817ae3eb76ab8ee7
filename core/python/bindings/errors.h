// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "bulkhead/status.h"
#include "core/python/bindings/strings.h"

namespace bulkhead::python {

// Errors of the library become Python's exceptions: one class for each Code, in
// the module bulkhead._errors, which also says what each class derives from.

// Returns the value, or throws the error as a StatusError, which the module
// translates.
template <typename T>
T ValueOf(Result<T> result) {
  return std::move(result).value();
}
inline void ValueOf(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

// Makes the module translate StatusError.
void DefineErrors(pybind11::module_& module);

}  // namespace bulkhead::python
