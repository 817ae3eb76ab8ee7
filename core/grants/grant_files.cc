// SPDX-License-Identifier: Apache-2.0
#include "core/grants/grant_files.h"

#include <sys/auxv.h>

namespace bulkhead::grants {
namespace {

constexpr char kBelowConfig[] = "/bulkhead/grants.toml";

}  // namespace

std::vector<GrantFile> GrantFiles::all() const {
  std::vector<GrantFile> files = {system};
  if (users) files.push_back(*users);
  return files;
}

bool IsPrivileged() { return getauxval(AT_SECURE) != 0; }

GrantFiles ResolveGrantFiles(const Environment& environment,
                             const std::optional<std::string>& option,
                             bool privileged) {
  GrantFiles files{.system = {kSystemGrants, "system"}};
  if (privileged) return files;
  const auto choose = [&](const std::string& path, const std::string& origin) {
    if (path.starts_with('/')) {
      files.users = GrantFile{path, origin};
      return;
    }
    files.diagnostics.push_back(
        {Diagnostic::Severity::kError, path, 0,
         "grants nothing: " + origin + " should be an absolute path"});
  };
  const std::string config = environment.Get("XDG_CONFIG_HOME").value_or("");
  const std::string home = environment.Get("HOME").value_or("");
  if (option) {
    choose(*option, "option grants");
  } else if (const auto variable = environment.Get("BULKHEAD_GRANTS")) {
    // An empty variable means that there is no user's file.
    if (!variable->empty()) choose(*variable, "BULKHEAD_GRANTS");
  } else if (config.starts_with('/')) {
    choose(config + kBelowConfig, "XDG_CONFIG_HOME");
  } else if (home.starts_with('/')) {
    choose(home + "/.config" + kBelowConfig, "user");
  }
  return files;
}

}  // namespace bulkhead::grants
