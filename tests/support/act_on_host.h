// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "bulkhead/host.h"

namespace bulkhead::tests {

// Runs `act` against a host with these options in a thread of its own and fails
// the test unless, within `limit`, it has returned; then ends bulkheadd until
// it does. Fails it also when, with the host gone, descriptors or mappings of
// memory files are left in this process, or its processes after five seconds.
Status ActOnHost(const HostOptions& options, std::chrono::milliseconds limit,
                 const std::function<Status(Host&)>& act);

}  // namespace bulkhead::tests
