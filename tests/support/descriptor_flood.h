// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace bulkhead::tests {

// Sends descriptors through the socket of a session worker until the kernel
// refuses. Descriptors in flight count against the user of the worker. Returns
// true with the reason in errno, or false if the kernel never refused.
bool FloodSocketWithDescriptors();

}  // namespace bulkhead::tests
