// SPDX-License-Identifier: Apache-2.0
#include "tests/support/high_water.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace bulkhead::tests {

void HighWater::Look(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::ifstream status(process + "/status");
  for (std::string word; status >> word;) {
    int64_t number = 0;
    if (word == "VmRSS:" && status >> number) {
      resident_kib = std::max(resident_kib, number);
    }
    if (word == "Threads:" && status >> number) {
      threads = std::max(threads, number);
    }
  }
  std::error_code refused;
  const auto files =
      std::filesystem::directory_iterator(process + "/fd", refused);
  if (!refused) {
    descriptors =
        std::max(descriptors,
                 static_cast<int64_t>(std::distance(begin(files), end(files))));
  }
}

}  // namespace bulkhead::tests
