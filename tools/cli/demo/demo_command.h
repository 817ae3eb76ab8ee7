// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead demo`, which decodes a clip, kills the decoding processes
// meanwhile, and shows that the frames equal the frames of an undisturbed run.
void AddDemoCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
