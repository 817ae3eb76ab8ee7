// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

// The parts of the module bulkhead._core that need no header of their own. Each
// is in a source of its name.
namespace bulkhead::python {

// Defines classes of Python for the metadata of streams and containers, and for
// the damage and the recoveries that decoders report.
void DefineMetadata(pybind11::module_& module);

// Defines classes of Python for the structs of options, with attributes that
// can be set, and for their enumerations. The enumerators have the names that
// the command line uses.
void DefineOptions(pybind11::module_& module);

// Defines classes of Python for the reports of a Host about its devices,
// backends and sandbox.
void DefineReports(pybind11::module_& module);

// Defines the class Host, whose methods open streams and ask bulkheadd.
void DefineHost(pybind11::module_& module);

// Defines the functions and classes by which bulkhead.distributed uses the
// engine of `bulkhead batch`. A record is a str here, a line of JSON, which
// travels between machines unchanged.
void DefineBatch(pybind11::module_& module);

// Defines functions of Python for operators: events, running applications, and
// records of crashes.
void DefineOperators(pybind11::module_& module);

}  // namespace bulkhead::python
