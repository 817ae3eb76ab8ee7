// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/chaos/fault.h"

namespace bulkhead::tests {

// Does to this process what the fault says, if it is one of those that are done
// to the process; may not return. A fault of the answer is the caller's to do.
void Harm(const Fault& fault);

}  // namespace bulkhead::tests
