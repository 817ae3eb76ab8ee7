// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/toml.h"
#include "core/grants/permissions.h"

namespace bulkhead::grants {

// The keys that a [permissions] table of bulkhead.toml and a [[grant]] of
// grants.toml have in common:
//
//   devices = ["/dev/dri/renderD*"]   read = ["/usr/share/acme"]
//   ioctls = ["drm"]                  memory_bytes = 8589934592
//   threads = 64

using ReportEntry =
    std::function<void(const toml::source_region&, const std::string&)>;

// An entry that is wrong is reported and left out; the rest counts.
// `other_keys` are the caller's own.
Permissions ReadPermissions(const toml::table& table,
                            std::span<const std::string_view> other_keys,
                            const ReportEntry& report);

// "line 3, column 5" is of the begin of `where`, in the words of a message:
// "column 5: MESSAGE".
std::string AtColumn(const toml::source_region& where,
                     const std::string& message);

}  // namespace bulkhead::grants
