// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/selection.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstddef>

#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

const std::string* FirstMatch(const std::vector<std::string>& globs,
                              const std::string& name) {
  for (const std::string& glob : globs) {
    if (fnmatch(glob.c_str(), name.c_str(), 0) == 0) return &glob;
  }
  return nullptr;
}

}  // namespace

Result<Selection> Selection::FromEnvironment(const Environment& environment,
                                             std::optional<bool> autoload) {
  Selection selection;
  if (autoload) {
    selection.autoload = *autoload;
    selection.autoload_rule = "option autoload";
  } else if (const auto value = environment.Get(kAutoloadVariable)) {
    if (*value != "0" && *value != "1") {
      return Status(Code::kInvalidArgument,
                    std::string(kAutoloadVariable) + " is " + Quoted(*value) +
                        ": set it to 1 (load backends that are installed) or "
                        "0 (do not), or leave it unset, which means 1");
    }
    selection.autoload = *value == "1";
  }
  selection.enabled =
      SplitGlobs(environment.Get(selection.enabled_rule).value_or(""));
  selection.disabled =
      SplitGlobs(environment.Get(selection.disabled_rule).value_or(""));
  selection.exec =
      SplitGlobs(environment.Get(selection.exec_rule).value_or(""));
  return selection;
}

std::optional<std::string> Selection::RuleAgainst(std::string_view name,
                                                  bool built_in) const {
  const std::string text(name);
  if (const std::string* glob = FirstMatch(disabled, text)) {
    return "disabled by " + Quoted(*glob) + " in " + disabled_rule;
  }
  if (!enabled.empty() && FirstMatch(enabled, text) == nullptr) {
    return "not among those that " + enabled_rule + " names";
  }
  if (!autoload && !built_in)
    return "not loaded, since autoload is off (" + autoload_rule + "=0)";
  return std::nullopt;
}

std::optional<std::string> Selection::RuleForExec(std::string_view name) const {
  const std::string* glob = FirstMatch(exec, std::string(name));
  if (glob == nullptr) return std::nullopt;
  return Quoted(*glob) + " in " + exec_rule;
}

std::vector<std::string> Selection::ExecWithout(
    const std::vector<std::string>& names) const {
  std::vector<std::string> without = exec;
  std::erase_if(without, [&](const std::string& glob) {
    return std::any_of(names.begin(), names.end(), [&](const auto& name) {
      return FirstMatch({glob}, name) != nullptr;
    });
  });
  return without;
}

std::vector<std::string> SplitGlobs(std::string_view list) {
  std::vector<std::string> globs;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (const std::string_view glob = Trimmed(list.substr(0, comma));
        !glob.empty()) {
      globs.emplace_back(glob);
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return globs;
}

}  // namespace bulkhead::discovery
