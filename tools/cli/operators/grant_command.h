// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead grant`: gives a backend what it asks for beyond its own files.
void AddGrantCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
