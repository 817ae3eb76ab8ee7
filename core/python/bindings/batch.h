// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace bulkhead::python {

// Batch, its attempts and its summary: the engine of `bulkhead batch`, for
// bulkhead.distributed. Records are lines of JSON, which travel between
// machines as they are.
void DefineBatch(pybind11::module_& module);

}  // namespace bulkhead::python
