// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/refuse_inside_backend.h"

#include <stdlib.h>

#include "ipc/backend_environment.h"

namespace bulkhead {

Status RefuseInsideBackend() {
  if (::secure_getenv(ipc::kInsideBackendVariable) == nullptr) return Status();
  ::setenv(ipc::kRefusedInsideVariable, "1", 1);
  return Status(Code::kUnsupported,
                "Bulkhead cannot be started from inside one of its backends: "
                "this process is a backend's sandbox, which starts no "
                "processes; decode here without Bulkhead, and leave the Host "
                "to the application");
}

}  // namespace bulkhead
