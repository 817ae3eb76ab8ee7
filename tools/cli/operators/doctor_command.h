// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// `bulkhead doctor`: whether decoding works here, by doing it, and if not, what
// is missing and how to turn it on.
void AddDoctorCommand(CLI::App& app, Invocation& invocation);

}  // namespace bulkhead::cli
