// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::files {

// A program of Bulkhead's installation that bulkheadd starts for each backend:
// the reaper or the worker. The application opens the program when its Host is
// created and passes the descriptor. So an upgrade of the installed files does
// not give a running application another version of the program. Immutable.
struct LibexecProgram {
  std::string path;    // for messages, and to open it if `file` is empty
  ipc::UniqueFd file;  // empty if the application could not open the program

  // Returns a descriptor with which the program can be executed. Fails with
  // kNotFound if the program cannot be opened.
  Result<ipc::UniqueFd> Open() const;
};

}  // namespace bulkhead::files
