// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// The autoload switch. Its name is part of the message of every failed backend.
inline constexpr const char* kAutoloadVariable =
    "BULKHEAD_DEVICE_BACKEND_AUTOLOAD";

// Selects which of the backends found are used. The lists hold globs (* ?
// [a-z]) on the name of the entry point; a backend in both lists is not used. A
// plain value.
struct Selection {
  // If false, an installed extension registers no device. Backends of the
  // built-in directories and explicitly loaded backends still do.
  bool autoload = true;
  std::vector<std::string> enabled;  // Empty: all.
  std::vector<std::string> disabled;

  // The names of the rules in messages.
  std::string autoload_rule = kAutoloadVariable;
  std::string enabled_rule = "BULKHEAD_BACKENDS";
  std::string disabled_rule = "BULKHEAD_BACKENDS_DISABLE";

  // Reads the three variables that the rules are named after. Lists have ","
  // between globs. The switch is on if unset or "1" and off if "0". Fails with
  // kInvalidArgument for any other value instead of guessing whether "true" or
  // "no" means on.
  static Result<Selection> FromEnvironment(const Environment& environment);

  // Returns the rule that excludes the backend `name`, or nullopt if it is
  // used.
  std::optional<std::string> RuleAgainst(std::string_view name,
                                         bool built_in) const;
};

// Splits `list` at ",", trims the parts and drops empty ones.
std::vector<std::string> SplitGlobs(std::string_view list);

}  // namespace bulkhead::discovery
