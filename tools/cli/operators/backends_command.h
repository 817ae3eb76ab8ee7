// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/reports.h>

namespace bulkhead::cli::operators {

// Prints a paragraph for each backend to stdout, and a line for each diagnostic
// to stderr.
void PrintBackends(const BackendReport& report);

}  // namespace bulkhead::cli::operators
