// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead sheet FILE -o sheet.png`: a file at a glance, frames evenly spread
// over its time, each with its time drawn on.
void AddSheetCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
