// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Makes the metadata of streams and containers, and the reports of decoders
// about damage and recovery, classes of Python.
void DefineMetadata(pybind11::module_& module);

}  // namespace bulkhead::python
