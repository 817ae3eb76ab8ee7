// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead probe FILE...`: what files say of themselves and of each of their
// streams, read in a sandbox without decoding.
void AddProbeCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
