// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead revoke`, which takes back permissions that `bulkhead grant`
// granted.
void AddRevokeCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
