// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Defines functions of Python for operators: events, running applications, and
// records of crashes.
void DefineOperators(pybind11::module_& module);

}  // namespace bulkhead::python
