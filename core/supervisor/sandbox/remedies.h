// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/supervisor/sandbox/machine_facts.h"

namespace bulkhead::sandbox {

// How an operator changes what a machine refuses, in the words of the system
// that started this process: Docker, Podman, Kubernetes or none of these. Steps
// for `bulkhead doctor`; one step may have several lines.

// Returns how to let system calls pass the filter that this process was started
// under. `calls` names them. In a container that is the profile
// container_seccomp.json, which lies beside bulkheadd.
std::string AllowCalls(const MachineFacts& facts, const std::string& calls);

// Returns how to give this process the capabilities, named without "CAP_".
std::string AddCapabilities(const MachineFacts& facts,
                            const std::vector<std::string>& names);

// Returns how to make a setting, "NAME=VALUE", now and for good.
std::string SetSysctl(const std::string& setting);

}  // namespace bulkhead::sandbox
