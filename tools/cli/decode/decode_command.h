// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead decode FILE...`, which decodes one stream of each file, whole
// or in part, to pictures, raw pixels, samples, hashes or nothing.
void AddDecodeCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
