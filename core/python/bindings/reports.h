// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Defines classes of Python for the reports of a Host about its devices,
// backends and sandbox.
void DefineReports(pybind11::module_& module);

}  // namespace bulkhead::python
