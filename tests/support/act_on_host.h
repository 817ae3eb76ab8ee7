// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// Runs `act` on a host with these options, in a thread of its own, and returns
// the result of `act`. Fails the test if `act` does not return within `limit`,
// and then kills bulkheadd until `act` returns. Also fails the test if the host
// leaves descriptors or mappings of memory files in this process, or if its
// processes still run when the host is gone.
Status ActOnHost(const HostOptions& options, std::chrono::milliseconds limit,
                 const std::function<Status(Host&)>& act);

}  // namespace bulkhead::tests
