// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/gil.h"

#include <unistd.h>

namespace bulkhead::python {

void SleepForEver() {
  for (;;) ::pause();
}

WithoutGil::WithoutGil() : thread_(PyEval_SaveThread()) {}

WithoutGil::~WithoutGil() {
  SleepingIfPythonEnds([this] { PyEval_RestoreThread(thread_); });
}

WithGil::WithGil()
    : state_(SleepingIfPythonEnds([] { return PyGILState_Ensure(); })) {}

WithGil::~WithGil() { PyGILState_Release(state_); }

}  // namespace bulkhead::python
