// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <vector>

#include "core/grants/grant_files.h"
#include "core/grants/permissions.h"
#include "tools/grant_editing/grant_file.h"

namespace bulkhead::cli::operators {

// Functions that `bulkhead grant`, `bulkhead revoke` and `bulkhead grants`
// share.

// A grants.toml to edit: the system's file, which applies to every user, or the
// file of one user.
struct GrantTarget {
  std::string path;
  grant_editing::GrantAudience audience;
};

// Returns the grants files that Bulkhead reads in a process of this user.
grants::GrantFiles OurGrantFiles();

// Returns the file to edit: the system's if `system`, else the user's. The file
// need not exist yet. Returns kInvalidArgument if this user's file has no path,
// as without HOME.
Result<GrantTarget> TargetOf(bool system);

// Parses permissions such as "read=/usr/share/acme". An error message begins
// with the malformed word.
Result<grants::Permissions> ParsePermissions(
    const std::vector<std::string>& words);

}  // namespace bulkhead::cli::operators
