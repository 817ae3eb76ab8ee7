// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead events`: what has happened, and what happens.
void AddEventsCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
