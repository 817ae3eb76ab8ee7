// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead::grants {

// Who may read a grants file.
enum class GrantAudience {
  kEverybody,  // A file below /etc/bulkhead, readable by all users.
  kUser,       // A file of one user.
};

// Returns the new text of a file, made from the present text.
using GrantEdit = std::function<Result<std::string>(std::string_view)>;

// Replaces the text of the file at `path` by the result of `edit`, completely
// or not at all: a concurrent reader, and one after a loss of power, sees
// either the old or the new text. Creates the file and its parent folders if
// they are missing. Holds the folder's lock meanwhile (directory_lock.h), so
// that one editor at a time changes the file.
//
// Refuses to edit a file that bulkheadd does not believe because of its owner
// or mode, since the new file would be believed, with the old grants in it.
Status EditGrantFile(const std::string& path, GrantAudience audience,
                     const GrantEdit& edit);

}  // namespace bulkhead::grants
