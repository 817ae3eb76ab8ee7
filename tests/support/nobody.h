// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace bulkhead::tests {

// The ordinary user that root becomes to run tests: no more rights than anybody
// has who is in no group but these.
inline constexpr uid_t kNobody = 65534;

// False, with errno: this process may not.
bool BecomeNobody(const std::vector<gid_t>& groups);

// Runs `body` as nobody in a process of its own. Its failures are failures of
// the test.
void RunAsNobody(const std::vector<gid_t>& groups,
                 const std::function<void()>& body);

}  // namespace bulkhead::tests
