// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// The name that a backend or a worker that is to hang gives to its process. A
// test finds the process by it. The kernel keeps 15 characters.
inline constexpr char kHeldName[] = "bulkhead-held";

}  // namespace bulkhead::tests
