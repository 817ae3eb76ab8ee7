// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead ps`, which lists this user's running applications with their
// backends and sessions.
void AddPsCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
