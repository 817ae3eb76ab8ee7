// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Defines the class Host, whose methods open streams and ask bulkheadd.
void DefineHost(pybind11::module_& module);

}  // namespace bulkhead::python
