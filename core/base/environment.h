// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace bulkhead {

// A copy of a process' environment variables. It is read once where the program
// starts and passed down from there, so that tests can pass their own. A plain
// value.
class Environment {
 public:
  using Variables = std::map<std::string, std::string>;

  Environment() = default;
  explicit Environment(Variables variables)
      : variables_(std::move(variables)) {}

  // Copies this process' environment. The copy of a privileged process
  // (AT_SECURE: set-user-ID, file capabilities) is empty: it lacks even HOME
  // and the XDG variables. The caller of such a process must not decide what is
  // loaded. No other thread may change the environment during the call.
  static Environment FromProcess();

  // Returns the value, or nullopt if the variable is unset.
  std::optional<std::string> Get(const std::string& name) const;

 private:
  Variables variables_;
};

}  // namespace bulkhead
