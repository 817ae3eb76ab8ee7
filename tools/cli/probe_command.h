// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead probe FILE`: what one video stream says of itself, learned by
// decoding its first frame in a sandbox.
void AddProbeCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
