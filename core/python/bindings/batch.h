// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Defines the functions and classes by which bulkhead.distributed uses the
// engine of `bulkhead batch`. A record is a str here, a line of JSON, which
// travels between machines unchanged.
void DefineBatch(pybind11::module_& module);

}  // namespace bulkhead::python
