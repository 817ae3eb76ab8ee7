// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead conformance`, the integration tests of one backend.
void AddConformanceCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
