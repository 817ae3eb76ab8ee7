// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/grants/permissions.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::grant_editing {

// Functions that edit the text of a grants.toml as a person would. They rewrite
// the lines of keys that change, and keep everything else, including comments
// and order. Then they parse the result and check that it has the intended
// grants. They return kInvalidArgument if `text` is not valid TOML, or has
// inline tables, which must be edited by hand.

// Returns the text with `permissions` added to the backend's grant for `hash`,
// the hash of its object as in RECORD; an empty `hash` means any object. Adds a
// grant if there is none.
Result<std::string> WithGrant(std::string_view text, const std::string& backend,
                              const std::string& hash,
                              const grants::Permissions& permissions);

// Returns the text without `permissions` in all grants of the backend, for
// every hash. If `permissions` is nullopt, removes all grants of the backend.
// Returns kNotFound if the backend has nothing to remove.
Result<std::string> WithoutGrant(
    std::string_view text, const std::string& backend,
    const std::optional<grants::Permissions>& permissions);

}  // namespace bulkhead::grant_editing
