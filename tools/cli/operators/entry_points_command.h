// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead entry-points`: what installed packages offer, of any group.
void AddEntryPointsCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
