// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead crashes [show N | clear]`: the records that bulkheadd keeps of how
// processes of backends ended.
void AddCrashesCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
