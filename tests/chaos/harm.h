// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/chaos/fault.h"

namespace bulkhead::tests {

// Carries out a deed to the process; may not return. Does nothing for a deed to
// the answer, which the caller carries out.
void Harm(const Fault& fault);
// Returns whether this process can start a thread.
bool GetsAThread();

}  // namespace bulkhead::tests
