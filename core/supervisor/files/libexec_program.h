// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::files {

// A program of the installation that bulkheadd starts for each backend. The
// application opened it when its Host was created and passes the descriptor, so
// that an upgrade of the installed files does not change the program under an
// application. Immutable.
struct LibexecProgram {
  std::string path;    // for messages, and where there is no descriptor
  ipc::UniqueFd file;  // empty if the application could not open the program

  // Returns a descriptor of the program, to execute it. Returns kNotFound if
  // there is none.
  Result<ipc::UniqueFd> Open() const;
};

}  // namespace bulkhead::files
