// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead top`, which shows this user's running applications, backends
// and sessions on a full screen. Rows with trouble come first.
void AddTopCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
