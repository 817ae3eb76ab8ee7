// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead::grant_editing {

// The users who may read a grants file.
enum class GrantAudience {
  kEverybody,  // A file below /etc/bulkhead, readable by all users.
  kUser,       // A file of one user.
};

// A function that gets the present text of a file and returns the new text.
using GrantEdit = std::function<Result<std::string>(std::string_view)>;

// Replaces the text of the file at `path` by the result of `edit`, atomically:
// a concurrent reader, or a reader after a loss of power, sees either the old
// or the new text. Creates the file and its parent folders if they are missing.
// Holds the lock of the folder during the edit (directory_lock.h), so that one
// editor at a time changes the file.
//
// Refuses to edit a file that bulkheadd does not trust because of its owner or
// mode. The new file would be trusted, and with it the old grants, which
// somebody else may have written.
Status EditGrantFile(const std::string& path, GrantAudience audience,
                     const GrantEdit& edit);

}  // namespace bulkhead::grant_editing
