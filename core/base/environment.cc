// SPDX-License-Identifier: Apache-2.0
#include "core/base/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace bulkhead {

Environment Environment::FromProcess() {
  Environment environment;
  if (getauxval(AT_SECURE) != 0 || environ == nullptr) return environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    // emplace keeps the first variable of a name, as getenv does.
    environment.variables_.emplace(text.substr(0, equals),
                                   text.substr(equals + 1));
  }
  return environment;
}

std::optional<std::string> Environment::Get(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

}  // namespace bulkhead
