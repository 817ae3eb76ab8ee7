// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/grant_options.h"

#include "core/base/environment.h"

namespace bulkhead::cli::operators {

grants::GrantFiles OurGrantFiles() {
  return grants::ResolveGrantFiles(Environment::FromProcess(), std::nullopt,
                                   grants::IsPrivileged());
}

Result<GrantTarget> TargetOf(bool system) {
  const grants::GrantFiles files = OurGrantFiles();
  if (system) {
    return GrantTarget{files.system.path,
                       grant_editing::GrantAudience::kEverybody};
  }
  if (files.users) {
    return GrantTarget{files.users->path, grant_editing::GrantAudience::kUser};
  }
  return Status(Code::kInvalidArgument,
                files.diagnostics.empty()
                    ? "there is no file for your grants: set HOME or "
                      "BULKHEAD_GRANTS, or use --system"
                    : ToString(files.diagnostics.front()));
}

Result<grants::Permissions> ParsePermissions(
    const std::vector<std::string>& words) {
  grants::Permissions permissions;
  for (const std::string& word : words) {
    if (Status added = grants::AddPermission(word, permissions); !added.ok()) {
      return Status(added.code(), word + ": " + added.message());
    }
  }
  return permissions;
}

}  // namespace bulkhead::cli::operators
