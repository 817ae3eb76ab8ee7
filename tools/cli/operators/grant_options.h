// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <vector>

#include "core/grants/grant_files.h"
#include "core/grants/permissions.h"
#include "tools/grants/grant_file.h"

namespace bulkhead::cli {

// Functions that `bulkhead grant`, `bulkhead revoke` and `bulkhead grants`
// share.

// A grants.toml to edit: the system's or the user's.
struct GrantTarget {
  std::string path;
  grants::GrantAudience audience;
};

// Returns the grants files that apply to this process.
grants::GrantFiles OurGrantFiles();

// Returns the file to edit. kInvalidArgument if the user has none.
Result<GrantTarget> TargetOf(bool system);

// Parses permissions such as "read=/usr/share/acme". An error begins with the
// word that is wrong.
Result<grants::Permissions> ParsePermissions(
    const std::vector<std::string>& words);

}  // namespace bulkhead::cli
