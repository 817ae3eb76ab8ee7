// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead sheet FILE -o sheet.png`. The command draws frames from even
// intervals of the file into one picture, each with its time.
void AddSheetCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
