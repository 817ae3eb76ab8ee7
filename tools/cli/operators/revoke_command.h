// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead revoke`, which takes away permissions that `bulkhead grant`
// gave.
void AddRevokeCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
