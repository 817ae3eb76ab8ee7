// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/exit_report.h"

namespace bulkhead::supervisor_link {

// The answer of bulkheadd to an ObservedExit: how a worker ended, and what the
// end is counted against (core/supervisor/README.md, "Whose fault an end was").
struct ExitVerdict {
  ExitReport report;
  // True if the input, the device or the backend is to blame. False if the end
  // counts against nothing, for example because another program killed the
  // worker.
  bool blamed = false;
  bool input_to_blame = false;
  bool device_to_blame = false;
  // The number of workers, in all sessions, whose deaths at
  // ObservedExit::position the input has caused, as far as bulkheadd remembers.
  // 0 if this end is not the input's fault.
  uint32_t deaths_here = 0;
  // True if the worker could not start a process or thread, because the other
  // workers of its backend had used up the backend's limit of tasks.
  bool lacked_tasks = false;
};

}  // namespace bulkhead::supervisor_link
