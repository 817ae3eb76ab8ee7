// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/grants/permissions.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::grants {

// Edits the text of a grants.toml as its owner would by hand: the keys that
// change are written anew, each in its place, and everything else, comments and
// order included, stays as it is. What comes out is parsed and compared with
// what was meant; a file in a shape that this does not understand (inline
// tables) is refused and has to be edited by hand. `text` has to be a file that
// can be parsed.

// With `permissions` for that backend and hash (empty: any), added to what it
// has already.
Result<std::string> WithGrant(std::string_view text, const std::string& backend,
                              const std::string& hash,
                              const Permissions& permissions);

// Without these permissions of the backend, whatever the hash; without any
// grant for it if `permissions` is nothing. kNotFound: it has none of them.
Result<std::string> WithoutGrant(std::string_view text,
                                 const std::string& backend,
                                 const std::optional<Permissions>& permissions);

}  // namespace bulkhead::grants
