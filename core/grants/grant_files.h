// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/environment.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::grants {

// The file of grants for every user of the machine.
inline constexpr char kSystemGrants[] = "/etc/bulkhead/grants.toml";

// A file that may hold grants. It need not exist.
struct GrantFile {
  std::string path;
  std::string origin;  // The setting that names it: "BULKHEAD_GRANTS".

  bool operator==(const GrantFile&) const = default;
};

// The files that may hold grants, and the problems found in the settings.
struct GrantFiles {
  GrantFile system;
  std::optional<GrantFile> users;  // The user's file. nullopt: there is none.
  Diagnostics diagnostics;

  // Returns `system`, then `users` if there is one.
  std::vector<GrantFile> all() const;
};

// Returns the files that may hold grants: /etc/bulkhead/grants.toml and the
// user's file, which is the first of
//
//   HostOptions::grants                 (`option`)
//   BULKHEAD_GRANTS
//   $XDG_CONFIG_HOME/bulkhead/grants.toml, or ~/.config/bulkhead/grants.toml
//
// A relative path is reported and left out. In a `privileged` process
// (AT_SECURE) only the system's file is used, because the caller of such a
// process must not decide what a backend may do.
GrantFiles ResolveGrantFiles(const Environment& environment,
                             const std::optional<std::string>& option,
                             bool privileged);
// Returns whether this process is privileged (AT_SECURE).
bool IsPrivileged();

}  // namespace bulkhead::grants
