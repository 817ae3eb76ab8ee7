// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// Inside a session worker: puts descriptors on their way through its socket,
// where they count against its user, until the kernel refuses; errno is why.
// False: it never did.
bool FloodSocketWithDescriptors();

}  // namespace bulkhead::tests
