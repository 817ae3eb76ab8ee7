// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <errno.h>

#include <string>
#include <system_error>
#include <utility>

#include "core/include/bulkhead/status.h"

namespace bulkhead::sandbox {

// Returns a Status whose message is "`what`: Permission denied", with the text
// of errno. Call it before anything else can change errno.
inline Status ErrnoStatus(Code code, std::string what) {
  const int error = errno;
  return Status(
      code, std::move(what) + ": " + std::generic_category().message(error));
}

// Returns such a Status about a step of a sandbox: kResourceExhausted if
// memory, processes or descriptors ran out, which says nothing about the
// sandboxes that this machine offers, otherwise kSandboxUnavailable.
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
