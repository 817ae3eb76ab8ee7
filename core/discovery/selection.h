// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/environment.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::discovery {

// The switch's name: part of the message that every failed backend raises.
inline constexpr const char* kAutoloadVariable =
    "BULKHEAD_DEVICE_BACKEND_AUTOLOAD";

// Which of the backends found are used. The lists hold globs (* ? [a-z]) on
// the entry point's name; a backend in both is not used. A value.
struct Selection {
  // Off: no extension registers a device by being installed. Backends of the
  // built-in directories, and what is loaded explicitly, still do.
  bool autoload = true;
  std::vector<std::string> enabled;  // Empty: all.
  std::vector<std::string> disabled;

  // How the rules are called in messages.
  std::string autoload_rule = kAutoloadVariable;
  std::string enabled_rule = "BULKHEAD_BACKENDS";
  std::string disabled_rule = "BULKHEAD_BACKENDS_DISABLE";

  // Reads the three variables of those names. The lists have "," between
  // globs. The switch is on if unset or "1", off if "0"; for any other value
  // the call fails with kInvalidArgument, since nobody who writes "true" means
  // off.
  static Result<Selection> FromEnvironment(const Environment& environment);

  // The rule that drops the backend `name`, or nothing if it is used.
  std::optional<std::string> RuleAgainst(std::string_view name,
                                         bool built_in) const;
};

// `list` split at "," and trimmed, empty parts dropped.
std::vector<std::string> SplitGlobs(std::string_view list);

}  // namespace bulkhead::discovery
