// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::tests {

// Listening sockets that no backend may reach. They do not block in accept().
// Each function returns an empty descriptor on failure.

// Listens on 127.0.0.1 at a free port, which the function stores.
ipc::UniqueFd ListenTcp(int* port);

// Listens at a path, or at an abstract name, which begins with a zero byte.
ipc::UniqueFd ListenUnix(const std::string& name);

}  // namespace bulkhead::tests
