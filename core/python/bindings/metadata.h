// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Defines classes of Python for the metadata of streams and containers, and for
// the damage and the recoveries that decoders report.
void DefineMetadata(pybind11::module_& module);

}  // namespace bulkhead::python
