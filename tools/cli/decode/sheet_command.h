// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead sheet FILE -o sheet.png`, which draws frames at even intervals
// of the file side by side, each with its time.
void AddSheetCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
