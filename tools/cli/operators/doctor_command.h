// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tools/cli/options.h"

namespace bulkhead::cli {

// Adds `bulkhead doctor`, which decodes a picture to find out whether decoding
// works on this machine. If not, it says what is missing and how to fix it.
void AddDoctorCommand(Command& program, Invocation& invocation);

}  // namespace bulkhead::cli
