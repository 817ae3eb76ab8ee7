// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/machine.h"

#include <cstddef>
#include <fstream>

namespace bulkhead::benchmark {

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown processor";
}

}  // namespace bulkhead::benchmark
