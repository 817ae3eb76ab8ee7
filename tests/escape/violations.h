// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// Makes one system call that both stages forbid, in the way that `name` says;
// the table is in violation_test.cc. Returns if it lives on. False: the name is
// none of these.
bool Violate(const std::string& name);

// Whether this process speculates although the processor would let it do
// without, or can be made to again.
bool Speculates();

// A thread that stays. False: there is none.
bool StartIdleThread();

}  // namespace bulkhead::tests
