// SPDX-License-Identifier: Apache-2.0
#include "core/python/bindings/errors.h"

#include <exception>

#include "bulkhead/exit_report.h"
#include "core/crashes/crash_json.h"
#include "core/python/bindings/gil.h"
#include "core/python/bindings/record.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

// Sets the interpreter's current exception to the one for `status`.
void Raise(const Status& status) {
  try {
    py::object report = py::none();
    if (status.exit_report() != nullptr)
      report = py::cast(*status.exit_report());
    const py::object error = SleepingIfPythonEnds([&]() -> py::object {
      return py::module_::import("bulkhead._errors")
          .attr("from_status")(CodeName(status.code()), Shown(status.message()),
                               report);
    });
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())),
                    error.ptr());
  } catch (py::error_already_set& raised) {
    raised.restore();
  }
}

}  // namespace

void DefineErrors(py::module_& module) {
  Record<ExitReport>(module, "ExitReport",
                     "The end of a worker process that made a call fail.")
      .field("backend", &ExitReport::backend)
      .field("device", &ExitReport::device)
      .computed("kind",
                [](const ExitReport& end) { return crashes::NameOf(end.kind); })
      .field("value", &ExitReport::value)
      .field("position", &ExitReport::position)
      .field("crash", &ExitReport::crash)
      .field("syscall_trusted", &ExitReport::syscall_trusted)
      .field("syscall_number", &ExitReport::syscall_number)
      .field("syscall", &ExitReport::syscall)
      .field("architecture", &ExitReport::architecture)
      .field("stage", &ExitReport::stage)
      .field("claimed_address", &ExitReport::claimed_address)
      .field("claimed_backtrace", &ExitReport::claimed_backtrace);

  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const StatusError& error) {
      Raise(error.status());
    }
  });
}

}  // namespace bulkhead::python
