// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace bulkhead {

// A copy of the environment variables that steer discovery. Read once where the
// program starts and passed down from there, so that tests can pass their own.
// A plain value.
class Environment {
 public:
  using Variables = std::map<std::string, std::string>;

  Environment() = default;
  explicit Environment(Variables variables)
      : variables_(std::move(variables)) {}

  // Copies this process' environment. The copy of a privileged process
  // (AT_SECURE: set-user-ID, file capabilities) is empty, also of HOME and the
  // XDG variables, because its caller must not decide what gets loaded. No
  // other thread may change the environment during the call.
  static Environment FromProcess();

  // Returns the value, or nullopt if the variable is unset.
  std::optional<std::string> Get(const std::string& name) const;

 private:
  Variables variables_;
};

}  // namespace bulkhead
