// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/include/bulkhead/status.h"

namespace bulkhead::supervisor_link {

// The answer of bulkheadd to an ObservedExit: how a worker ended, and whom the
// end is counted against (core/supervisor/README.md, "Whose fault an end was").
struct ExitVerdict {
  ExitReport report;
  // Something is to blame: the input, the device or the backend. Otherwise the
  // end is nobody's fault and counts against nothing.
  bool blamed = false;
  bool input_to_blame = false;
  bool device_to_blame = false;
  // The number of workers, over all sessions, that the input has ended at this
  // position, as far as bulkheadd remembers.
  uint32_t deaths_here = 0;
  // Other workers had taken the tasks that the worker's backend may have.
  bool lacked_tasks = false;
};

}  // namespace bulkhead::supervisor_link
