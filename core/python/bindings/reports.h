// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Makes the reports of a Host about itself classes of Python.
void DefineReports(pybind11::module_& module);

}  // namespace bulkhead::python
