// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::benchmark {

// Returns the model name of the processor from /proc/cpuinfo.
std::string ProcessorName();

}  // namespace bulkhead::benchmark
