// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead replay N`: what the application asked for when a backend's process
// ended, once more, in a fresh one.
void AddReplayCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
