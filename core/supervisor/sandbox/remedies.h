// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/supervisor/sandbox/machine_facts.h"

namespace bulkhead::sandbox {

// Texts for `bulkhead doctor` that say how an operator allows something that
// this machine refuses. They depend on the system that started this process:
// Docker, Podman, Kubernetes or none of these. A text may have several lines.

// Returns how to allow `calls` in the seccomp filter under which this process
// was started. In a container, the remedy is the profile container_seccomp.json
// beside bulkheadd.
std::string AllowCalls(const MachineFacts& facts, const std::string& calls);

// Returns how to give this process capabilities, such as {"SETUID"} for
// CAP_SETUID.
std::string AddCapabilities(const MachineFacts& facts,
                            const std::vector<std::string>& names);

// Returns how to set a sysctl, "NAME=VALUE", now and for good.
std::string SetSysctl(const std::string& setting);

}  // namespace bulkhead::sandbox
