// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/environment.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::grants {

inline constexpr char kSystemGrants[] = "/etc/bulkhead/grants.toml";

// A file that may grant something; it need not exist.
struct GrantFile {
  std::string path;
  std::string origin;  // why it counts, in words: "BULKHEAD_GRANTS"

  bool operator==(const GrantFile&) const = default;
};

struct GrantFiles {
  GrantFile system;
  std::optional<GrantFile> users;  // none: privileged, or nobody has a home
  Diagnostics diagnostics;

  std::vector<GrantFile> all() const;
};

// Where grants are: /etc/bulkhead/grants.toml, and that of the user, which is
// the first of
//
//   HostOptions::grants                 (`option`)
//   BULKHEAD_GRANTS
//   $XDG_CONFIG_HOME/bulkhead/grants.toml, or ~/.config/bulkhead/grants.toml
//
// Relative paths are reported and left out. In a `privileged` process
// (AT_SECURE) only the first counts: there the caller is not the one to say
// what a backend may do.
GrantFiles ResolveGrantFiles(const discovery::Environment& environment,
                             const std::optional<std::string>& option,
                             bool privileged);
// Whether this process is one.
bool IsPrivileged();

}  // namespace bulkhead::grants
