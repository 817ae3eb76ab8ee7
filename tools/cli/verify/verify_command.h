// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead verify`, which compares the frames that two devices decode.
void AddVerifyCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
