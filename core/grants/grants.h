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
//   hash = "sha256=lpW8uZ0a..."         # of the shared object, as in RECORD
//   devices = ["/dev/dri/renderD128"]   # all keys: permissions_toml.h
//   reserved_name = true                # the backend may have a reserved name
//
// A grant is for one shared object: another version of it, or another backend
// of the same name, gets no permission from the grant. With `any_hash = true`
// instead of the hash, a grant is for any object of a backend of that name.
struct Grant {
  std::string backend;
  std::string hash;  // Empty: any object (any_hash).
  Permissions permissions;
  // True if the object may take the name `backend` from one of Bulkhead's own
  // backends, and is used in its place (core/discovery/reserved_names.h).
  bool reserved_name = false;
  std::string file;   // The grants.toml.
  uint32_t line = 0;  // The line of the grant in `file`, from 1.

  bool operator==(const Grant&) const = default;
};

// The grants of one file or of several.
struct Grants {
  std::vector<Grant> grants;
  Diagnostics diagnostics;

  bool operator==(const Grants&) const = default;
};

// Parses a grants.toml. `file` is used for messages. A wrong grant is ignored;
// a grant with a wrong entry is used without that entry; both are reported. A
// file that is not valid TOML grants nothing.
Grants ParseGrants(std::string_view text_untrusted, const std::string& file);

}  // namespace bulkhead::grants
