// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// Makes one system call that both stages forbid, in the way that `name` says;
// the table is in violation_test.cc. Returns if it lives on. False: the name is
// none of these.
bool Violate(const std::string& name);

}  // namespace bulkhead::tests
