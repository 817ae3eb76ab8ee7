// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <vector>

#include "core/grants/grant_files.h"
#include "core/grants/permissions.h"
#include "tools/grants/grant_file.h"

namespace bulkhead::cli {

// What `bulkhead grant` and `bulkhead revoke` have in common.

// The file to be edited: the system's or the user's.
struct GrantTarget {
  std::string path;
  grants::GrantAudience audience;
};

// The files that count for this process.
grants::GrantFiles OurGrantFiles();
Result<GrantTarget> TargetOf(bool system);

// Words like "read=/usr/share/acme".
Result<grants::Permissions> ParsePermissions(
    const std::vector<std::string>& words);

}  // namespace bulkhead::cli
