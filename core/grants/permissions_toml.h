// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/toml.h"
#include "core/grants/permissions.h"

namespace bulkhead::grants {

// The keys that the [permissions] table of bulkhead.toml and each [[grant]] of
// grants.toml have in common:
//
//   devices = ["/dev/dri/renderD*"]   read = ["/usr/share/acme"]
//   ioctls = ["drm"]                  memory_bytes = 8589934592
//   threads = 64

// A function that reports a problem at a place in the file.
using ReportEntry =
    std::function<void(const toml::source_region&, const std::string&)>;

// Reads the permissions in `table`. A wrong entry is reported and left out, and
// so is a key that is neither a permission nor one of the caller's own
// `other_keys`.
Permissions ReadPermissions(const toml::table& table,
                            std::span<const std::string_view> other_keys,
                            const ReportEntry& report);

// Returns "column 5: MESSAGE" with the column of the beginning of `where`, or
// the message alone if the place is not known.
std::string AtColumn(const toml::source_region& where,
                     const std::string& message);

}  // namespace bulkhead::grants
