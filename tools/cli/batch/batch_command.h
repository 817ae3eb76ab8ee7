// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead batch FILE... -o DIR`, which decodes many files into a
// directory, or one shard of them, and goes on where an earlier run ended.
void AddBatchCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
