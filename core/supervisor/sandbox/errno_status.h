// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>

#include <string>
#include <system_error>
#include <utility>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// "`what`: Permission denied", from errno as the caller's last call left it.
inline Status ErrnoStatus(Code code, std::string what) {
  const int error = errno;
  return Status(
      code, std::move(what) + ": " + std::generic_category().message(error));
}

}  // namespace bulkhead::sandbox
