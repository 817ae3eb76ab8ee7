// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// The variable of the autoload switch (Selection::autoload). The message of
// every failed backend names it.
inline constexpr const char* kAutoloadVariable =
    "BULKHEAD_DEVICE_BACKEND_AUTOLOAD";

// The variable that lists backends to start with "exec" (Manifest::Start): each
// of their sessions loads the shared object anew.
inline constexpr const char* kExecVariable = "BULKHEAD_BACKENDS_EXEC";

// Selects which of the backends found are used, and how. The lists hold globs
// (* ? [a-z]) on the name of the entry point; a backend that is both enabled
// and disabled is not used. A plain value.
struct Selection {
  // If false, installed backends register no devices. Bulkhead's own backends
  // and explicitly loaded backends still do.
  bool autoload = true;
  std::vector<std::string> enabled;  // Empty: all.
  std::vector<std::string> disabled;
  // The backends that start with "exec", whatever their manifests say.
  std::vector<std::string> exec;

  // The names of the rules in messages.
  std::string autoload_rule = kAutoloadVariable;
  std::string enabled_rule = "BULKHEAD_BACKENDS";
  std::string disabled_rule = "BULKHEAD_BACKENDS_DISABLE";
  std::string exec_rule = kExecVariable;

  // Reads the four environment variables that are named above. Lists have ","
  // between globs. The switch is on if unset or "1" and off if "0". Fails with
  // kInvalidArgument for any other value instead of guessing whether "true" or
  // "no" means on. If the application chose `autoload`, that choice applies and
  // the switch's variable is not read.
  static Result<Selection> FromEnvironment(const Environment& environment,
                                           std::optional<bool> autoload = {});

  // Returns the rule that excludes the backend `name`, or nullopt if it is
  // used. Callers set `built_in` also for backends that were loaded explicitly.
  std::optional<std::string> RuleAgainst(std::string_view name,
                                         bool built_in) const;
  // Returns the rule that requires "exec" of the backend `name`, or nullopt.
  std::optional<std::string> RuleForExec(std::string_view name) const;
  // Returns the globs of `exec` that match none of the names.
  std::vector<std::string> ExecWithout(
      const std::vector<std::string>& names) const;
};

// Splits `list` at ",", trims the parts and drops empty ones.
std::vector<std::string> SplitGlobs(std::string_view list);

}  // namespace bulkhead::discovery
