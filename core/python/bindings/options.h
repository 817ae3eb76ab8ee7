// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Defines classes of Python for the structs of options, with attributes that
// can be set, and for their enumerations. The enumerators have the names that
// the command line uses.
void DefineOptions(pybind11::module_& module);

}  // namespace bulkhead::python
