// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead batch FILE... -o DIR`. The command decodes many files, or one
// shard of them, into a directory, and continues where an earlier run ended.
void AddBatchCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
