// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/chaos/fault.h"

namespace bulkhead::tests {

// Carries out a deed to the process; may not return. Does nothing for a deed to
// the answer, which the caller carries out.
void Harm(const Fault& fault);
// Returns whether this process can have the threads of a decoder.
bool GetsThreads();

}  // namespace bulkhead::tests
