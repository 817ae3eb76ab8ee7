// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead revoke`: takes it away again.
void AddRevokeCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
