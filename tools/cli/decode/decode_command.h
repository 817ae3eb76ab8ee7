// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead decode FILE...`: the frames of one stream of each file, all or
// chosen ones, as pictures, bare pixels, hashes or nothing at all.
void AddDecodeCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
