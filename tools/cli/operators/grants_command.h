// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead grants`: what the operator has granted, to whom, and where that is
// written.
void AddGrantsCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
