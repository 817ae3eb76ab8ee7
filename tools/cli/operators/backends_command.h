// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead backends`: what discovery found, and what became of it.
void AddBackendsCommand(CLI::App& app, Invocation& invocation);

// One paragraph a backend and one line a diagnostic, on stderr.
void SayBackends(const BackendReport& report);

}  // namespace bulkhead::cli
