// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/include/bulkhead/status.h"

namespace bulkhead::grants {

enum class GrantAudience {
  kEverybody,  // /etc/bulkhead: readable for all
  kUser,
};

using GrantEdit = std::function<Result<std::string>(std::string_view)>;

// Replaces the text of the file at `path` by what `edit` makes of it, wholly or
// not at all: whoever reads it meanwhile sees the one or the other, and so does
// who looks after a loss of power. Makes the file, and the folders above it,
// where there are none. One editor at a time: the folder is locked by flock for
// as long as it takes.
//
// A file that bulkheadd would not believe is not touched, for it would be
// believed afterwards.
Status EditGrantFile(const std::string& path, GrantAudience audience,
                     const GrantEdit& edit);

}  // namespace bulkhead::grants
