// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace bulkhead::discovery {

// The environment variables that steer discovery, read once at the edge of the
// program and handed down from there. Immutable; a value.
class Environment {
 public:
  using Variables = std::map<std::string, std::string>;

  Environment() = default;
  explicit Environment(Variables variables)
      : variables_(std::move(variables)) {}

  // Copies this process' environment. In a privileged process (AT_SECURE:
  // set-user-ID, file capabilities) it is empty, HOME and the XDG variables
  // included: there the caller is not the one to say what gets loaded. The
  // environment must not be changed meanwhile by another thread.
  static Environment FromProcess();

  // Nothing if it is unset.
  std::optional<std::string> Get(const std::string& name) const;

 private:
  Variables variables_;
};

}  // namespace bulkhead::discovery
