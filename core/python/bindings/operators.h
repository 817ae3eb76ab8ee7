// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Makes what operators ask functions of Python: events, running applications,
// and records of crashes.
void DefineOperators(pybind11::module_& module);

}  // namespace bulkhead::python
