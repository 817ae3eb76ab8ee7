// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/grants/permissions.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::grants {

// One [[grant]] of a grants.toml:
//
//   [[grant]]
//   backend = "acme"                    # the entry point's name
//   hash = "sha256=lpW8uZ0a…"           # of its shared object, as in RECORD
//   devices = ["/dev/dri/renderD128"]   # and what else permissions_toml.h has
//
// It is for that one file: another version of the plugin, or another plugin of
// the same name, has nothing of it. Who wants it otherwise writes
// `any_hash = true` in place of the hash.
struct Grant {
  std::string backend;
  std::string hash;  // empty: whatever its file is
  Permissions permissions;
  std::string file;
  uint32_t line = 0;

  bool operator==(const Grant&) const = default;
};

struct Grants {
  std::vector<Grant> grants;
  Diagnostics diagnostics;

  bool operator==(const Grants&) const = default;
};

// `file` is for messages. What is wrong with a grant makes it none, what is
// wrong with an entry of it makes it one without that entry; both are reported.
// A file that is no TOML grants nothing.
Grants ParseGrants(std::string_view text_untrusted, const std::string& file);

}  // namespace bulkhead::grants
