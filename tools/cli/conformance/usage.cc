// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace bulkhead::cli::conformance {

std::optional<Usage> UsageOf(int pid) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  Usage usage;
  for (std::string line; std::getline(file, line);) {
    const auto value = [&](std::string_view name) -> uint64_t {
      return line.starts_with(name) ? std::stoull(line.substr(name.size())) : 0;
    };
    usage.memory_kib = std::max(usage.memory_kib, value("RssAnon:"));
    usage.threads = std::max(usage.threads, value("Threads:"));
  }
  if (usage.threads == 0) return std::nullopt;
  return usage;
}

}  // namespace bulkhead::cli::conformance
