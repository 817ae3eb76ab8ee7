// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/grants/permissions.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::grants {

// Functions that edit the text of a grants.toml as its owner would by hand:
// they rewrite the keys that change in their places, and keep everything else,
// including comments and order. Each function parses the result and compares it
// with the intended grants. Files with inline tables are refused with
// kInvalidArgument, and have to be edited by hand. `text` must be valid TOML.

// Returns the text with `permissions` added to those that the backend has for
// this hash. An empty hash means any hash.
Result<std::string> WithGrant(std::string_view text, const std::string& backend,
                              const std::string& hash,
                              const Permissions& permissions);

// Returns the text without these permissions of the backend, for every hash, or
// without all grants for the backend if `permissions` is nullopt. Returns
// kNotFound if the backend has none of them.
Result<std::string> WithoutGrant(std::string_view text,
                                 const std::string& backend,
                                 const std::optional<Permissions>& permissions);

}  // namespace bulkhead::grants
