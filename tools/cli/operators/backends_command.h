// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead backends`, which lists the backends that discovery found and
// the state of each.
void AddBackendsCommand(Command& program, Invocation& invocation);

// Prints a paragraph for each backend to stdout, and a line for each diagnostic
// to stderr.
void PrintBackends(const BackendReport& report);

}  // namespace bulkhead::cli
