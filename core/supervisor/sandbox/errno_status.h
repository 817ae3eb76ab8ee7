// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>

#include <string>
#include <system_error>
#include <utility>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// Returns a Status whose message is `what` and the text of errno: "cannot open
// it: Permission denied". Call it before anything else can change errno.
inline Status ErrnoStatus(Code code, std::string what) {
  const int error = errno;
  return Status(
      code, std::move(what) + ": " + std::generic_category().message(error));
}

// Returns ErrnoStatus() for a failed step in making a sandbox. If memory,
// processes or descriptors ran out, the code is kResourceExhausted, since a
// later attempt may succeed. For any other errno it is kSandboxUnavailable.
inline Status SandboxStepFailed(std::string what) {
  switch (errno) {
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrnoStatus(Code::kResourceExhausted, std::move(what));
    default:
      return ErrnoStatus(Code::kSandboxUnavailable, std::move(what));
  }
}

}  // namespace bulkhead::sandbox
