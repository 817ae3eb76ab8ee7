// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Makes the structs of options classes of Python whose members can be set, and
// their enumerations classes with the names that the command uses.
void DefineOptions(pybind11::module_& module);

}  // namespace bulkhead::python
