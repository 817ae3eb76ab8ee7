// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace bulkhead::sandbox {

// Returns the contents of a file in /proc, /sys or a cgroup, without the line
// feed at the end. Returns nullopt if the file cannot be opened.
inline std::optional<std::string> ReadText(const std::string& path) {
  std::ifstream file(path);
  if (!file.is_open()) return std::nullopt;
  std::ostringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace bulkhead::sandbox
