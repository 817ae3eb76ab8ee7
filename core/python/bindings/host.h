// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

void DefineHost(pybind11::module_& module);

}  // namespace bulkhead::python
