// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead demo`, which decodes a clip while it kills the decoders, and
// shows that the frames are the same as in an undisturbed run.
void AddDemoCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
