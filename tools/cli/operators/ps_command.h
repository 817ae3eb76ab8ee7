// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead ps`: what runs, in every application of this user.
void AddPsCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
