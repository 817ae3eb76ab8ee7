// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include "bulkhead/version.h"
#include "core/python/bindings/array.h"
#include "core/python/bindings/decoders.h"
#include "core/python/bindings/definitions.h"
#include "core/python/bindings/errors.h"
#include "core/python/bindings/lease.h"
#include "core/python/bindings/reader.h"

// The module bulkhead._core: the C++ library with the library's own names. The
// modules of the package are its only users; they offer torchcodec's names and
// Python's types. Decisions are made in them or in the library, never here.
PYBIND11_MODULE(_core, module) {
  using namespace bulkhead::python;
  module.doc() = "The C++ library, for the modules of this package.";
  module.attr("version") = bulkhead::LibraryVersion();
  DefineErrors(module);
  DefineArray(module);
  DefineLease(module);
  DefineMetadata(module);
  DefineOptions(module);
  DefineSources(module);
  DefineVideo(module);
  DefineAudio(module);
  DefineReports(module);
  DefineHost(module);
  DefineBatch(module);
  DefineOperators(module);
}
